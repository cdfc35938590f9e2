import { en } from './en.ts';

/** The words of the page, in the language of the reader. */
export const t = en;
