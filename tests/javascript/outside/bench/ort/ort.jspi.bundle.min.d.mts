export const env: any;
export const InferenceSession: any;
export const Tensor: any;
