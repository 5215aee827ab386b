/** The Web Crypto API of browsers, workers and runtimes like them. */
export const webcrypto = globalThis.crypto;
