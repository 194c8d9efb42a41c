/** What is hidden, in a notebook file's metadata: outputs in both of Jupyter's formats, and sections. */

/** JupyterLab's name for a heading whose cells are hidden. */
const SECTION = "jp-MarkdownHeadingCollapsed";

export function isFolded({ collapsed, jupyter }) {
  return collapsed === true || jupyter?.outputs_hidden === true;
}

/** Return a cell's metadata with hidden or visible outputs. */
export function withFolding(metadata, folded) {
  const jupyter = { ...metadata.jupyter, outputs_hidden: true };
  if (folded) return { ...metadata, collapsed: true, jupyter };
  const rest = { ...metadata };
  delete rest.collapsed;
  delete jupyter.outputs_hidden;
  if (Object.keys(jupyter).length > 0) rest.jupyter = jupyter;
  else delete rest.jupyter;
  return rest;
}

export function isSectionFolded(metadata) {
  return metadata[SECTION] === true;
}

/** Return a text cell's metadata with the cells under its heading hidden or visible. */
export function withSectionFolding(metadata, folded) {
  const rest = { ...metadata };
  delete rest[SECTION];
  return folded ? { ...rest, [SECTION]: true } : rest;
}
