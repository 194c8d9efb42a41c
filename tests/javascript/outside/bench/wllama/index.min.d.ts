export const Wllama: any;
