import * as v from 'valibot';
import { strictBody, success } from '../../schemas.ts';

export const DatabaseUriBody = strictBody({ uri: v.string('must be a String') });

/** `serverIps`: the addresses that the database must allow. */
export const DatabaseAnswer = success(
  v.object({
    external: v.boolean(),
    host: v.optional(v.string()),
    serverIps: v.pipe(v.array(v.string()), v.length(2)),
  }),
);
