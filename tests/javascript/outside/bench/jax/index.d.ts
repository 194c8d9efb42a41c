declare const jax: any;
export = jax;
