// Counts of past events.

export const counters = {
  dispatches: 0, copies: 0, submits: 0, uploads: 0, readbacks: 0, draws: 0,
  bind_groups_created: 0, pipelines_created: 0,
};
