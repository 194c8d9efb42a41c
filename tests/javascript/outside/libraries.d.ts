// Third-party libraries that the pages import; their types are not checked.

declare module "@codemirror/*";
declare module "@lezer/*";
declare module "dompurify";
declare module "katex";
declare module "marked";

/** TensorFlow.js and WgPy, loaded by separate scripts. */
declare var tf: any;
declare var wgpy: any;
