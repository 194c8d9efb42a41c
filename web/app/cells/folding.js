/** Hidden outputs in a notebook file's metadata, in both of Jupyter's formats. */

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
