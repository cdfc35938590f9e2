import type { ObjectId } from 'mongodb';
import { type AccountStore, enabled, requireAccount } from '../account-store.ts';
import { hasAnotherWay, lastWayToSignIn, type OpenWays } from '../another-way.ts';
import { replaceCredentials } from '../credentials.ts';
import type { Bearer } from '../session-jwt.ts';
import { requireRecentAccount } from '../step-up.ts';
import { accountChanges, tellOfChange } from '../tell-of-change.ts';
import { type PasskeyView, parsePasskeyId, passkeyNotFound, toPasskeyView } from './passkey.ts';

/** The passkeys of who is signed in, the oldest first. */
export const listPasskeys = async (store: AccountStore, { userId }: Bearer): Promise<readonly PasskeyView[]> => {
  const { _signIn } = await requireAccount(store, userId);
  return (_signIn?.passkeys ?? []).map(toPasskeyView);
};

const having = (_id: ObjectId, passkeyId: ObjectId) => ({ _id, ...enabled, '_signIn.passkeys._id': passkeyId });

/** Names one anew; none of one's own → 404 `PASSKEY_NOT_FOUND`. */
export const renamePasskey = async (
  store: AccountStore,
  { userId }: Bearer,
  passkeyId: string,
  name: string,
): Promise<PasskeyView> => {
  const { _id } = await requireAccount(store, userId);
  const id = parsePasskeyId(passkeyId);
  const changed = await store.change(having(_id, id), { $set: { '_signIn.passkeys.$.name': name } });
  const passkey = changed?._signIn?.passkeys?.find((one) => one._id.equals(id));
  if (!passkey) throw passkeyNotFound();
  return toPasskeyView(passkey);
};

/**
 * Deletes one, for who has just signed in; all other sessions end, as some may have begun with it. None → 404
 * `PASSKEY_NOT_FOUND`, nothing else left → 409 `LAST_WAY_TO_SIGN_IN`.
 */
export const deletePasskey = async (
  store: AccountStore,
  bearer: Bearer,
  passkeyId: string,
  ways: OpenWays,
): Promise<void> => {
  const { _id } = await requireRecentAccount(store, bearer);
  const id = parsePasskeyId(passkeyId);
  const filter = { ...having(_id, id), ...hasAnotherWay(store, ways, { passkey: id }) };
  const ending = { except: bearer.sessionId, tokens: false, pull: { '_signIn.passkeys': { _id: id } } };
  const changed = await replaceCredentials(store, filter, {}, ending);
  if (!changed) throw (await store.find(having(_id, id))) ? lastWayToSignIn() : passkeyNotFound();
  await tellOfChange(store, changed, accountChanges.passkeyDeleted);
};
