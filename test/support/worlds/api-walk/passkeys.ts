import { type CreationOptions, makePasskey, type RequestOptions, usePasskey } from '../../clients/passkey-device.ts';
import type { ApiWalk } from './walk.ts';

/** The rows in the order of a passkey's life. */
interface Rows {
  readonly begin: string;
  readonly add: string;
  readonly ask: string;
  readonly signIn: string;
  readonly list: string;
  readonly rename: string;
  readonly remove: string;
}

/** A passkey from its first day to its last, of whoever is signed in, on the page of an origin. */
export const walkPasskeys = async (walk: ApiWalk, rows: Rows, origin: string): Promise<void> => {
  const begun = await walk.run<{ readonly data: CreationOptions }>(rows.begin);
  const { credential, response } = makePasskey(begun.body.data, { origin });
  const added = await walk.run<{ readonly data: { readonly _id: string } }>(rows.add, { body: { response } });
  const asked = await walk.run<{ readonly data: RequestOptions }>(rows.ask);
  await walk.run(rows.signIn, { body: { response: usePasskey(credential, asked.body.data, { origin }) } });
  await walk.run(rows.list);
  const own = { params: { id: added.body.data._id } };
  await walk.run(rows.rename, own);
  await walk.run(rows.remove, own);
};
