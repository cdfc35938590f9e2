import { conditions } from './conditions.ts';
import type { Parser } from './parser.ts';
import { textParsers } from './texts.ts';

export const parsers: readonly Parser[] = [...conditions, ...textParsers];

/** Settings of the functions that sign. */
export const prepareParsers = (): void => {
  Object.assign(process.env, { ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), LOG: 'silent' });
};
