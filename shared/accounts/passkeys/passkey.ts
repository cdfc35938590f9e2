import { isIP } from 'node:net';
import type { ObjectId } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { idOf, viewOf } from '../../core/values.ts';
import { itemKey } from '../../persistence/item-keys.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { allowsOrigin, projectSites } from '../../projects/allowed-origins.ts';
import type { Project } from '../../projects/project.ts';
import { accountChanges, notifyOfChange } from '../account-mail.ts';
import { type AccountRecord, type AccountStore, enabled, requireAccount } from '../account-store.ts';
import { replaceCredentials } from '../credentials.ts';
import type { SessionScope } from '../sessions.ts';
import { consumeSecret, issueSecret, type SecretKind } from '../single-use-secrets.ts';
import { hasRemainingMethod, lastSignInMethod, type OpenMethods, requireRecentAccount } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';

/** A credential in the record of its account. */
export interface Passkey {
  readonly _id: ObjectId;
  /** base64url; unique in the store. */
  readonly id: string;
  /** COSE, base64url. */
  readonly key: string;
  /** Signature counter of the authenticator; 0 if it has none. */
  readonly counter: number;
  /** Synced between devices; never changes. */
  readonly isMultiDevice: boolean;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** Its counter went back, so it may have been copied. It cannot sign in. */
  readonly locked?: true;
}

export type PasskeyView = ReturnType<typeof toPasskeyView>;

export const toPasskeyView = (passkey: Passkey) => ({
  ...viewOf(passkey, ['_id', 'name', 'createdAt', 'lastUsedAt']),
  locked: passkey.locked === true,
});

const passkeyNotFound = (): AppError => new AppError('PASSKEY_NOT_FOUND', 'Passkey not found');

/** Throws 404 `PASSKEY_NOT_FOUND`. */
const parsePasskeyId = (text: string): ObjectId => {
  const id = idOf(text);
  if (!id) throw passkeyNotFound();
  return id;
};

/** Oldest first. */
export const listPasskeys = async (store: AccountStore, { userId }: Bearer): Promise<readonly PasskeyView[]> => {
  const { _signIn } = await requireAccount(store, userId);
  return (_signIn?.passkeys ?? []).map(toPasskeyView);
};

const withPasskey = (_id: ObjectId, passkeyId: ObjectId) => ({ _id, ...enabled, '_signIn.passkeys._id': passkeyId });

/** Throws 404 `PASSKEY_NOT_FOUND`. */
export const renamePasskey = async (
  store: AccountStore,
  { userId }: Bearer,
  passkeyId: string,
  name: string,
): Promise<PasskeyView> => {
  const { _id } = await requireAccount(store, userId);
  const id = parsePasskeyId(passkeyId);
  const changed = await store.change(withPasskey(_id, id), { $set: { '_signIn.passkeys.$.name': name } });
  const passkey = changed?._signIn?.passkeys?.find((one) => one._id.equals(id));
  if (!passkey) throw passkeyNotFound();
  return toPasskeyView(passkey);
};

/** All other sessions end. Errors: 404 `PASSKEY_NOT_FOUND`, 409 `LAST_WAY_TO_SIGN_IN`. */
export const deletePasskey = async (
  store: AccountStore,
  bearer: Bearer,
  passkeyId: string,
  ways: OpenMethods,
): Promise<void> => {
  const { _id } = await requireRecentAccount(store, bearer);
  const id = parsePasskeyId(passkeyId);
  const filter = { ...withPasskey(_id, id), ...hasRemainingMethod(store, ways, { passkey: id }) };
  const ending = { except: bearer.sessionId, tokens: false, pull: { '_signIn.passkeys': { _id: id } } };
  const changed = await replaceCredentials(store, filter, {}, ending);
  if (!changed) throw (await store.find(withPasskey(_id, id))) ? lastSignInMethod() : passkeyNotFound();
  await notifyOfChange(store, changed, accountChanges.passkeyDeleted);
};

/** WebAuthn's relying party. */
export interface RelyingParty {
  /** Host that passkeys are bound to. */
  readonly id: string;
  readonly name: string;
  /** True if pages of this origin may use them. */
  readonly allows: (origin: string) => boolean;
}

type Site = Pick<Project, 'name' | 'siteUrl' | 'allowedDomains'>;

const siteUrlRequired = (setBy: string): AppError =>
  new AppError('SITE_URL_REQUIRED', `Passkeys need a site URL with a host name, not an IP address. ${setBy}`);

const projectSiteHint = 'Set siteUrl: PATCH /api/projects/:projectId on the dashboard API.';

/** Browsers support passkeys only here. */
const isSecure = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');

/** Relying party of a site: its host, for pages at or below it. Throws 400 `SITE_URL_REQUIRED` without a host name. */
export const relyingParty = (site: Site, setBy = projectSiteHint): RelyingParty => {
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

/** Time for the user to respond. */
const challengeSeconds = 300;

const challenges: SecretKind = {
  keyOf: (scope, hash) => itemKey(kinds.challenge, scope, { hash }),
  seconds: challengeSeconds,
};

/** With `userId` for registration, without for sign-in. */
const issueChallenge = (scope: SessionScope, userId?: string): Promise<string> =>
  issueSecret(challenges, scope, { userId });

/** True for exactly one concurrent caller. */
export const consumeChallenge = async (scope: SessionScope, challenge: string, userId?: string): Promise<boolean> =>
  (await consumeSecret(challenges, scope, challenge, { userId })) !== undefined;

// Starting a ceremony verifies nothing, so it is bundled without the WebAuthn package.

/** Per account. */
export const maxPasskeys = 20;

/** Throws 403 `LIMIT_REACHED`. */
export const requireFreePasskey = ({ _signIn }: AccountRecord): void => {
  if ((_signIn?.passkeys ?? []).length < maxPasskeys) return;
  throw new AppError('LIMIT_REACHED', `An account has at most ${maxPasskeys} passkeys. Delete one first.`);
};

/** COSE numbers of Ed25519, P-256 and RSA with SHA-256; every authenticator has one of them. */
export const algorithms: readonly number[] = [-8, -7, -257];

const type = 'public-key';

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. Throws 403 `LIMIT_REACHED` over 20 passkeys. */
export const startRegistration = async (store: AccountStore, { id, name }: RelyingParty, bearer: Bearer) => {
  const account = await requireRecentAccount(store, bearer);
  requireFreePasskey(account);
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

/** `PublicKeyCredentialRequestOptionsJSON`, the same for all users. */
export const startPasskeySignIn = async (scope: SessionScope, { id }: RelyingParty) => ({
  rpId: id,
  challenge: await issueChallenge(scope),
  timeout: challengeSeconds * 1000,
  userVerification: 'required' as const,
});
