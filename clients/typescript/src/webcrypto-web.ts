/** The Web Crypto API of browsers, workers and similar runtimes. */
export const webcrypto = globalThis.crypto;
