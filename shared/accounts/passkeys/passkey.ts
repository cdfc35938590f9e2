import { isIP } from 'node:net';
import type { ObjectId } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { idOf, viewOf } from '../../core/view.ts';
import { itemKey } from '../../persistence/item-keys.ts';
import * as kinds from '../../persistence/table-keys.ts';
import type { Project } from '../../projects/project.ts';
import { allowsOrigin, projectSites } from '../../projects/settings.ts';
import { accountChanges, notifyOfChange } from '../account-mail.ts';
import { type AccountRecord, type AccountStore, enabled, requireAccount } from '../account-store.ts';
import { replaceCredentials } from '../credentials.ts';
import type { SessionScope } from '../sessions.ts';
import { consumeSecret, issueSecret, type OneTime } from '../single-use-secrets.ts';
import { hasRemainingMethod, lastSignInMethod, type OpenMethods, requireRecentAccount } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';

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

const passkeyNotFound = (): AppError => new AppError('PASSKEY_NOT_FOUND', 'Passkey not found');

/** The id that a path names; what cannot be one → 404 `PASSKEY_NOT_FOUND`. */
const parsePasskeyId = (text: string): ObjectId => {
  const id = idOf(text);
  if (!id) throw passkeyNotFound();
  return id;
};

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
  ways: OpenMethods,
): Promise<void> => {
  const { _id } = await requireRecentAccount(store, bearer);
  const id = parsePasskeyId(passkeyId);
  const filter = { ...having(_id, id), ...hasRemainingMethod(store, ways, { passkey: id }) };
  const ending = { except: bearer.sessionId, tokens: false, pull: { '_signIn.passkeys': { _id: id } } };
  const changed = await replaceCredentials(store, filter, {}, ending);
  if (!changed) throw (await store.find(having(_id, id))) ? lastSignInMethod() : passkeyNotFound();
  await notifyOfChange(store, changed, accountChanges.passkeyDeleted);
};

/** Whom passkeys are for, in the words of WebAuthn. */
export interface RelyingParty {
  /** The host that passkeys are bound to. */
  readonly id: string;
  readonly name: string;
  /** Whether a page of this origin may use them. */
  readonly allows: (origin: string) => boolean;
}

type Site = Pick<Project, 'name' | 'siteUrl' | 'allowedDomains'>;

const siteUrlRequired = (setBy: string): AppError =>
  new AppError('SITE_URL_REQUIRED', `Passkeys need a site URL with a host name, not an IP address. ${setBy}`);

const byProject = 'Set siteUrl: PATCH /api/projects/:projectId on the dashboard API.';

/** Browsers have passkeys on these pages alone. */
const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');

/**
 * The relying party of a site: its host, for its own pages at or below that (contract 3, "Passkeys"). No site URL, or
 * one whose host is an IP address, which browsers take for none → 400 `SITE_URL_REQUIRED`, saying where it is set.
 */
export const relyingParty = (site: Site, setBy = byProject): RelyingParty => {
  const id = site.siteUrl === null ? undefined : URL.parse(site.siteUrl)?.hostname;
  if (!id || isIP(id) !== 0 || id.startsWith('[')) throw siteUrlRequired(setBy);
  return {
    id,
    name: site.name,
    allows: (origin) => {
      const page = URL.parse(origin);
      const isBelow = page?.hostname === id || page?.hostname.endsWith(`.${id}`);
      return page?.origin === origin && isSecure(page) && isBelow === true && allowsOrigin(projectSites(site), origin);
    },
  };
};

/** How long somebody may take with their authenticator. */
const challengeSeconds = 300;

const challenges: OneTime = {
  keyOf: (scope, hash) => itemKey(kinds.challenge, scope, { hash }),
  seconds: challengeSeconds,
};

/**
 * A new challenge of 256 bits, as base64url, for an authenticator to sign: of `userId`, who adds a passkey, or of a
 * sign-in.
 */
const issueChallenge = (scope: SessionScope, userId?: string): Promise<string> =>
  issueSecret(challenges, scope, { userId });

/** Uses up a challenge of whom it was issued to: true for one of any number of parallel callers. */
export const consumeChallenge = async (scope: SessionScope, challenge: string, userId?: string): Promise<boolean> =>
  (await consumeSecret(challenges, scope, challenge, { userId })) !== undefined;

// What begins a ceremony verifies nothing, so it is bundled without the package that does.

/** Of one account. */
export const maxPasskeys = 20;

/** More of them → 403 `LIMIT_REACHED`. */
export const requireRoom = ({ _signIn }: AccountRecord): void => {
  if ((_signIn?.passkeys ?? []).length < maxPasskeys) return;
  throw new AppError('LIMIT_REACHED', `An account has at most ${maxPasskeys} passkeys. Delete one first.`);
};

/** Ed25519, P-256 and RSA with SHA-256, one of which every authenticator has; by their COSE numbers. */
export const algorithms: readonly number[] = [-8, -7, -257];

const type = 'public-key';

/**
 * What a browser makes a passkey of, for who has just signed in: one that names its user, and verifies them each time
 * (contract 3, "Passkeys"): `PublicKeyCredentialCreationOptionsJSON` of WebAuthn, as far as we use it. 20 of them
 * already → 403 `LIMIT_REACHED`.
 */
export const startRegistration = async (store: AccountStore, { id, name }: RelyingParty, bearer: Bearer) => {
  const account = await requireRecentAccount(store, bearer);
  requireRoom(account);
  const userName = account.email ?? bearer.userId;
  return {
    rp: { id, name },
    user: { id: Buffer.from(bearer.userId, 'hex').toString('base64url'), name: userName, displayName: userName },
    challenge: await issueChallenge(store.scope, bearer.userId),
    pubKeyCredParams: algorithms.map((alg) => ({ type, alg }) as const),
    timeout: challengeSeconds * 1000,
    excludeCredentials: (account._signIn?.passkeys ?? []).map(({ id }) => ({ type, id }) as const),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
  } as const;
};

/**
 * What a browser signs in by, the same for everybody: whoever has a passkey of this site chooses one. It is
 * `PublicKeyCredentialRequestOptionsJSON` of WebAuthn, as far as we use it.
 */
export const startPasskeySignIn = async (scope: SessionScope, { id }: RelyingParty) => ({
  rpId: id,
  challenge: await issueChallenge(scope),
  timeout: challengeSeconds * 1000,
  userVerification: 'required' as const,
});
