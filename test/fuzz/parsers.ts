import { conditions } from './conditions.ts';
import { files } from './files.ts';
import type { Parser } from './parser.ts';
import { proofs } from './proofs.ts';
import { schemas } from './schemas.ts';
import { texts } from './texts.ts';

export const parsers: readonly Parser[] = [...conditions, ...schemas, ...texts, ...files, ...proofs];

/** Settings of the functions that sign. */
export const prepareParsers = (): void => {
  Object.assign(process.env, { ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'), LOG: 'silent' });
};
