/** Assembles the notebook page: kernel, cells, files, status, keys. */
import { acceptDrops, KernelFiles } from "./notebook/files.js";
import { showArrays, showCellTimes } from "./kernel/gpu-arrays.js";
import { showGpuMemory } from "./kernel/gpu-panel.js";
import { showVariables } from "./kernel/variables.js";
import { showOutline } from "./notebook/outline.js";
import { sideTabs } from "./notebook/side-tabs.js";
import { showBoot } from "./kernel/boot-view.js";
import { CellCommands } from "./notebook/cell-commands.js";
import { dragCells } from "./notebook/cell-drag.js";
import { completionSource } from "./editor/completion.js";
import { drawer } from "./base/drawer.js";
import { Documents } from "./notebook/documents.js";
import { fromTemplate, refs } from "./base/dom.js";
import { tellOfOldFigures } from "./cells/figure-themes.js";
import { showGallery } from "./notebook/gallery.js";
import { KeptList } from "./storage/kept-list.js";
import { Kernels } from "./kernel/kernels.js";
import { machineApi } from "./kernel/machine.js";
import { menuOf } from "./base/menu.js";
import { showMessage } from "./base/messages.js";
import { Finder } from "./notebook/find.js";
import { commandPalette, commandsOf } from "./notebook/palette.js";
import { Notebook } from "./notebook/notebook.js";
import { showOtherKernels } from "./kernel/other-kernels.js";
import { pictureIn } from "./base/picture.js";
import { pointerInput, usePointerInput } from "./cells/pointer-input.js";
import { ask } from "./base/question.js";
import { Restarting } from "./kernel/restarting.js";
import { explainEnd } from "./kernel/server.js";
import { notifyOfLongRuns } from "./kernel/notifications.js";
import { runAndTell } from "./notebook/run-all.js";
import { Sections } from "./notebook/sections.js";
import { settingsDialog } from "./notebook/settings-dialog.js";
import { Selection } from "./notebook/selection.js";
import { copyLink, downloadPage } from "./sharing/sharing.js";
import { Shelf } from "./storage/shelf.js";
import { commandKeys } from "./notebook/shortcuts.js";
import { showTabTitle } from "./notebook/tab-title.js";
import { showStatus } from "./kernel/status.js";
import { NotebookStorage } from "./storage/storage.js";
import { TabRecord } from "./storage/tab-record.js";
import { toolbarKeys } from "./notebook/toolbars.js";
import { keepInView } from "./base/view.js";
import { widgets } from "./controls/widgets.js";

const isNotebook = (file) => file.name.toLowerCase().endsWith(".ipynb");

/** Build the page into `app` and start its kernel. */
export function openPage(app) {
  const page = fromTemplate("notebook-page");
  const found = refs(page);
  app.replaceChildren(page);

  /** @type {WeakMap<object, KernelFiles>} */
  const filesOf = new WeakMap();
  const kernels = new Kernels({
    prepare: (client) => {
      widgets.connect(client);
      notifyOfLongRuns(client, () => documents.titleOf(kernels.idOf(client)));
      filesOf.set(client, new KernelFiles({
        kernel: client,
        list: found.files,
        isShown: () => client === kernel.client,
        insert: (source) =>
          notebook.insertAfter(notebook.current, { type: "code", source }).edit("end"),
      }));
    },
    mayEnd: (id, count) => ask(found["question-dialog"], {
      heading: "End an idle kernel?",
      text: `The kernel of “${documents.titleOf(id)}” is idle and takes memory. It holds `
        + `${count} ${count === 1 ? "variable" : "variables"}, which would be lost. The notebook stays.`,
      agree: "End it", refuse: "Keep it",
    }),
  });
  const kernel = kernels.shown;
  kernel.addEventListener("change", () => filesOf.get(kernel.client)?.show());
  showBoot(kernel, {
    box: found.boot, bar: found["boot-bar"], stage: found["boot-stage"],
    bytes: found["boot-bytes"],
  });
  showStatus(kernel, {
    kernelBox: found.kernel,
    adapter: {
      box: found.adapter, features: found.features, dialog: found["features-dialog"],
      list: found["feature-list"],
    },
    memory: found.memory,
    gpu: found.gpu,
    loss: {
      box: found["gpu-lost"], button: found["gpu-lost-restart"],
      restart: () => restart(),
    },
  });
  const notebook = new Notebook({
    root: found.cells, kernel, complete: completionSource(kernel),
  });
  showTabTitle({ kernel, notebook, name: found.title });
  const storage = new NotebookStorage();
  const tab = new TabRecord(() => documents.isCurrent());
  const documents = new Documents({
    notebook, kernels, storage, tab, title: found.title, saved: found.saved, origin: found.origin,
  });
  const shelf = new Shelf({ storage, tab, documents, kernels });
  const kept = new KeptList(found, shelf);
  const take = async (dropped) => {
    filesOf.get(kernel.client)?.add(dropped.filter(({ file }) => !isNotebook(file)).map(({ file }) => file));
    for (const { file, handle } of dropped) {
      if (isNotebook(file)) await documents.open(file, await handle);
    }
  };

  const restart = () => {
    kernel.restart();
    showMessage("The kernel restarts. Variables are lost; the notebook and files stay.");
  };
  const restarting = new Restarting(kernel, {
    dialog: found["restart-dialog"], confirm: found["restart-confirm"],
  });
  const selection = new Selection(notebook, found.cells);
  const sections = new Sections(notebook);
  dragCells(found.cells, notebook);
  const cells = new CellCommands(notebook, selection);
  const finder = new Finder(notebook, found);
  const actions = {
    run: () => cells.runAndMove(),
    "run-all": () => void runAndTell(notebook, notebook.cells),
    "run-above": () => cells.runAbove(),
    "run-below": () => cells.runBelow(),
    interrupt: () => kernel.interrupt(),
    restart: () => restarting.ask("Restart", restart),
    "restart-and-run-all": () => restarting.ask("Restart and run all", () => {
      restart();
      void notebook.runAllAnew();
    }),
    "add-code": () => notebook.insertAfter(notebook.current).edit(),
    "add-markdown": () => notebook.insertAfter(notebook.current, { type: "markdown" }).edit(),
    "append-code": () => notebook.append({ type: "code" }).edit(),
    "append-markdown": () => notebook.append({ type: "markdown" }).edit(),
    "clear-outputs": () => notebook.clearOutputs(),
    new: () => {
      documents.new();
      notebook.current?.edit();
    },
    "new-here": () => {
      kernels.handOver();
      actions.new();
    },
    open: () => void documents.choose(() => found["notebook-picker"].click()),
    kept: () => void kept.show(),
    save: () => void documents.save(),
    download: () => documents.download(),
    "copy-link": () => void copyLink(documents.shown),
    "download-page": () => void downloadPage(documents.shown),
    tour: () => void documents.tour(),
    gallery: () => void showGallery(
      { dialog: found["gallery-dialog"], list: found["gallery-list"] },
      (title, url) => documents.openFromSite(title, url),
    ),
    docs: () => void window.open("docs/", "_blank", "noopener"),
    lite: () => void window.open("lite/", "_blank", "noopener"),
    help: () => found["help-dialog"].showModal(),
    find: () => finder.open(),
    settings: settingsDialog({
      dialog: found["settings-dialog"], completes: found["settings-completes"],
      notifies: found["settings-notifies"], refused: found["settings-refused"],
      wraps: found["settings-wraps"], darkFigures: found["settings-dark-figures"],
      theme: found["settings-theme"], size: found["settings-size"],
    }),
    palette: () => openPalette(),
    "pick-files": () => found["file-picker"].click(),
  };
  const openPalette = commandPalette({
    dialog: found.palette, field: found["palette-field"], list: found["palette-list"],
  }, commandsOf(actions, cells, notebook, finder));
  page.addEventListener("click", ({ target }) => {
    actions[target.closest("[data-action]")?.dataset.action]?.();
  });
  onPick(found["notebook-picker"], ([file]) => void documents.open(file));
  onPick(found["file-picker"], (chosen) => take(chosen.map((file) => ({ file }))));
  acceptDrops(found["drop-veil"], take);
  menuOf(found["more-button"], found["more-menu"]);
  for (const name of ["file", "share", "help", "narrow"]) {
    menuOf(found[`${name}-button`], found[`${name}-menu`]);
  }
  notebook.addEventListener("split", (event) =>
    cells.split(/** @type {CustomEvent} */ (event).detail));
  commandKeys(found.cells, notebook, { ...actions, cells, selection });
  widgets.addEventListener("change", (event) =>
    notebook.noteOutputs(/** @type {CustomEvent} */ (event).detail));
  toolbarKeys(page);
  keepInView(found.cells);
  tellOfOldFigures(notebook);
  const pageKeys = { s: () => void documents.save(), F: actions.find, P: actions.palette };
  // Before the editors, whose search has Ctrl+F with and without Shift.
  addEventListener("keydown", (event) => {
    const action = event.ctrlKey || event.metaKey ? pageKeys[event.key] : null;
    if (!action || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }, { capture: true });
  addEventListener("hashchange", () => void documents.openRequested());
  addEventListener("beforeunload", (event) => {
    // The notebook is stored; running cells and variables are not.
    if (kernels.areBusy) event.preventDefault();
  });

  fillPanels(kernel, notebook, found, sections);
  reactToKernel(kernel, page.querySelector('[data-action="interrupt"]'), restart);
  showOtherKernels(kernels, {
    owner: found["kernel-owner"], others: found["other-kernels"], titleOf: (id) => documents.titleOf(id),
    titleShown: () => documents.titleOf(documents.id),
  });
  found.title.addEventListener("change", () => kernels.changed());
  kernels.start();
  void documents.restore().then(() => shelf.tidy()).catch(() => {});
  globalThis.browsergpu = machineApi(kernel, { onMessage: besideTheCells(found, kernel) });
}

function onPick(input, take) {
  input.addEventListener("change", () => {
    if (input.files.length > 0) take([...input.files]);
    input.value = "";
  });
}

const OUTLINE_MS = 300;

/** Keep the panel that is shown beside the cells up to date. */
function fillPanels(kernel, notebook, found, sections) {
  /** @type {Record<string, () => void>} */
  const fill = {
    outline: () => showOutline(found.outline, notebook, sections),
    variables: () => void showVariables(found.variables, kernel),
    gpu: () => {
      void kernel.status();
      void showArrays(kernel, found["gpu-arrays"]);
    },
  };
  const shown = sideTabs(found["side-tabs"], (name) => fill[name]?.());
  drawer(found["side-button"], found["side-panel"]);
  showGpuMemory(kernel, { chart: found["gpu-chart"], text: found["gpu-text"] });
  showCellTimes(kernel, found["gpu-times"]);
  /** @type {number | undefined} */
  let timer;
  const later = () => {
    clearTimeout(timer);
    if (shown() === "outline") timer = setTimeout(fill.outline, OUTLINE_MS);
  };
  notebook.addEventListener("change", later);
  notebook.addEventListener("shown", later);
  kernel.addEventListener("state", ({ detail: { state } }) => {
    if (state === "loading") {
      for (const table of [found.variables, found["gpu-arrays"]]) table.replaceChildren();
    }
    if (state === "idle" && ["variables", "gpu"].includes(shown())) fill[shown()]();
  });
}

function reactToKernel(kernel, interruptButton, restart) {
  const action = { label: "Restart", run: restart };
  let takeAway = () => {};
  kernel.addEventListener("state", ({ detail: { state, message } }) => {
    interruptButton.disabled = state !== "busy" && state !== "interrupting";
    if (state !== "interrupting") takeAway();
    if (state === "dead") {
      const { client } = kernel;
      void explainEnd(message).then((text) => {
        if (client !== kernel.client || client.state !== "dead") return;
        takeAway = showMessage(text, { kind: "error", action });
      });
    }
  });
  kernel.addEventListener("unresponsive", () => {
    takeAway();
    takeAway = showMessage(
      "The code does not react to the interrupt. A restart ends it; variables are lost, the "
      + "notebook stays.", { kind: "error", action },
    );
  });
}

/** Output and images of code run through `browsergpu.run` belong to no cell. */
function besideTheCells(found, kernel) {
  const receive = (message) => {
    if (message.type === "stream") console.log(message.text.replace(/\n$/, ""));
    else if (message.type === "display") console.log(message.data["text/plain"]);
    else if (message.type === "picture") draw(message);
  };
  const place = { receive, error: ({ full }) => console.error(full) };
  const draw = pictureIn(found["canvas-frame"], (picture) => {
    usePointerInput(picture, (row) => pointerInput(kernel.client).send(picture, row, place));
  }, () => {
    found["canvas-panel"].hidden = false;
  });
  return receive;
}
