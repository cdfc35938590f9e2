/**
 * Twice the 6 s that the contract promises while a part is down, plus 8 s for a loaded machine. Without a timeout of
 * ours, such a response takes 30 s or never comes.
 */
export const promisedMs = 20_000;
