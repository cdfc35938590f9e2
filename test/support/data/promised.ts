/**
 * The 6 s within which an answer comes while a part is down (contract 1), twice and 8 s more, since a loaded machine
 * takes as long for work of its own; without a limit of ours such an answer takes 30 s or never comes.
 */
export const promisedMs = 20_000;
