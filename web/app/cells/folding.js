/** How a notebook file says that a cell's outputs are hidden, in both of Jupyter's ways. */

export function isFolded({ collapsed, jupyter }) {
  return collapsed === true || jupyter?.outputs_hidden === true;
}

/** A cell's metadata with that said, or no more. */
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
