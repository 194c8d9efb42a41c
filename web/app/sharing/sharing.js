/** Shares the open notebook as a link, or as a page with its outputs. */
import { download } from "../base/downloads.js";
import { showMessage } from "../base/messages.js";
import { exportPage } from "./html-export.js";
import { LinkTooLong, linkTo, linkWith } from "./links.js";

/** Copy a link that opens the notebook (see Documents.shown). */
export async function copyLink({ title, sheet, origin }) {
  try {
    const { link, hasOutputs } = /^https?:/.test(origin ?? "")
      ? { link: linkTo(origin), hasOutputs: true } : await linkWith(title, sheet.model);
    const about = hasOutputs ? "" : " Its outputs would make the link too long, so they are not in it.";
    await place(link, about);
  } catch (error) {
    if (!(error instanceof LinkTooLong)) throw error;
    showMessage(`${error.message} Download it instead.`, { kind: "error" });
  }
}

async function place(link, about) {
  try {
    await navigator.clipboard.writeText(link);
    showMessage(`The link is copied.${about}`);
  } catch {
    history.replaceState(null, "", link);
    showMessage(`The browser does not let this page copy. The link is in the address bar.${about}`);
  }
}

/** Download the notebook as an HTML page with its outputs. */
export async function downloadPage({ title, sheet }) {
  try {
    download(`${title}.html`, await exportPage(title, sheet), "text/html");
  } catch (error) {
    showMessage(`The notebook could not be exported: ${error.message}.`, { kind: "error" });
  }
}
