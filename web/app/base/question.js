/** A question that is answered by yes or no. */

/**
 * Ask in `dialog`, which has a heading, a paragraph, and the buttons to refuse and to agree. Resolves
 * to whether the user agrees. Escape refuses.
 * @param {HTMLDialogElement} dialog
 * @param {{heading: string, text: string, agree: string, refuse?: string}} question
 * @returns {Promise<boolean>}
 */
export async function ask(dialog, { heading, text, agree, refuse = "Cancel" }) {
  while (dialog.open) await closed(dialog);
  const parts = ["h2", "p", "button", "button.primary"].map((one) => dialog.querySelector(one));
  [heading, text, refuse, agree].forEach((words, index) => {
    /** @type {Element} */ (parts[index]).textContent = words;
  });
  dialog.returnValue = "";
  dialog.showModal();
  await closed(dialog);
  return dialog.returnValue === "yes";
}

function closed(dialog) {
  return new Promise((resolve) => {
    dialog.addEventListener("close", resolve, { once: true });
  });
}
