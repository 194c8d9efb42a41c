// Libraries of others that the pages import; their types are not checked.

declare module "@codemirror/*";
declare module "@lezer/*";
declare module "dompurify";
declare module "marked";

/** TensorFlow.js, which a script of its own loads. */
declare var tf: any;
