import type { ObjectId } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { idOf } from '../../core/id-of.ts';
import { viewOf } from '../../core/view.ts';

/** A credential of an authenticator that signs its account in, as the record of the account keeps it. */
export interface Passkey {
  readonly _id: ObjectId;
  /** Of the credential, as base64url; unique among all accounts of a store. */
  readonly id: string;
  /** The public key, COSE as base64url. */
  readonly key: string;
  /** How often the authenticator says that it has signed; 0 for ever where it does not count. */
  readonly counter: number;
  /** Whether its authenticator may copy it to others, which never changes. */
  readonly isMultiDevice: boolean;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** Signed in with a counter lower than one before, so that there may be a copy: it signs in no longer. */
  readonly locked?: true;
}

/** What its owner sees of it. */
export type PasskeyView = ReturnType<typeof toPasskeyView>;

export const toPasskeyView = (passkey: Passkey) => ({
  ...viewOf(passkey, ['_id', 'name', 'createdAt', 'lastUsedAt']),
  locked: passkey.locked === true,
});

export const passkeyNotFound = (): AppError => new AppError('PASSKEY_NOT_FOUND', 'Passkey not found');

/** The id that a path names; what cannot be one → 404 `PASSKEY_NOT_FOUND`. */
export const parsePasskeyId = (text: string): ObjectId => {
  const id = idOf(text);
  if (!id) throw passkeyNotFound();
  return id;
};
