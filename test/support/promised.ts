/**
 * The 6 s within which an answer comes while a part is down (contract 1), doubled, since a loaded machine takes as long for
 * work of its own; without a limit of ours such an answer takes 30 s or never comes.
 */
export const promisedMs = 12_000;
