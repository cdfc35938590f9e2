import type { Filter } from 'mongodb';
import { onControl } from '../../../clients/mongo.ts';
import { clock } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import { decideLink } from '../../social/link-decision.ts';
import type { SocialProfile } from '../../social/profile.ts';
import { signInFailed } from '../../social/sign-in-failure.ts';
import { unknownPasswordHash } from '../../users/discard-credentials.ts';
import { identityKey } from '../../users/find-user.ts';
import type { Identity } from '../../users/user-record.ts';
import type { DeveloperRecord } from '../developer-record.ts';
import { findDeveloperRecord } from '../find-developer.ts';
import { insertDeveloper } from '../insert-developer.ts';
import { replaceDeveloperCredentials } from '../replace-credentials.ts';
import { requireOpenSignup } from '../require-open-signup.ts';
import { revokingTokens } from '../tokens/revoke-tokens.ts';

/** Whose session to open, and how the sign-in came to this developer. */
export interface LinkedDeveloper {
  readonly record: DeveloperRecord;
  readonly isNewDeveloper: boolean;
  readonly linkedByEmail: boolean;
}

/** An attempt fails only when another caller has just changed the same account. */
const attempts = 5;

const findByAddresses = async (addresses: readonly string[]): Promise<DeveloperRecord | undefined> => {
  for (const address of addresses) {
    const record = await findDeveloperRecord({ email: { $eq: address } });
    if (record) return record;
  }
  return undefined;
};

/** Adds the identity to an account whose address is verified, unless that has changed since it was read. */
const link = async ({ _id }: DeveloperRecord, identity: Identity): Promise<DeveloperRecord | undefined> => {
  const filter = {
    _id,
    emailVerified: true,
    deletingSince: { $exists: false },
    'identities.key': { $ne: identity.key },
  } as Filter<DeveloperRecord>;
  const change = { $push: { identities: identity }, $set: { updatedAt: new Date(clock.now()) } } as const;
  const linked = await onControl((db) =>
    db.collection<DeveloperRecord>('developers').findOneAndUpdate(filter, change, { returnDocument: 'after' }),
  );
  return linked ?? undefined;
};

/** Takes an account away from whoever opened it with an address that they never verified, and links it. */
const discardAndLink = async ({ _id }: DeveloperRecord, identity: Identity): Promise<DeveloperRecord | undefined> => {
  const passwordHash = await unknownPasswordHash();
  const set = { passwordHash, hasPassword: false, emailVerified: true, identities: [identity] };
  return revokingTokens(_id, () => replaceDeveloperCredentials({ _id, emailVerified: false }, set));
};

const stateOf = (record: DeveloperRecord | undefined): 'none' | 'verified' | 'unverified' => {
  if (!record) return 'none';
  return record.emailVerified ? 'verified' : 'unverified';
};

const linkOnce = async ({ id, addresses }: SocialProfile): Promise<LinkedDeveloper | undefined> => {
  const identity: Identity = { provider: 'github', id, key: identityKey('github', id) };
  const verified = addresses.filter((address) => address.verified).map(({ email }) => email);
  const holder = await findDeveloperRecord({ 'identities.key': { $eq: identity.key } } as Filter<DeveloperRecord>);
  const match = holder ? undefined : await findByAddresses(verified);
  const [email] = verified;
  const step = decideLink({
    addressVerified: email !== undefined,
    identityKnown: holder !== undefined,
    account: stateOf(match),
  });
  if (step === 'sign in' && holder) return { record: holder, isNewDeveloper: false, linkedByEmail: false };
  if (step === 'create' && email !== undefined) {
    requireOpenSignup();
    const passwordHash = await unknownPasswordHash();
    const made = { email, passwordHash, hasPassword: false, emailVerified: true, identities: [identity] };
    return { record: await insertDeveloper(made), isNewDeveloper: true, linkedByEmail: false };
  }
  if (match && (step === 'link' || step === 'discard and link')) {
    const record = await (step === 'link' ? link(match, identity) : discardAndLink(match, identity));
    return record && { record, isNewDeveloper: false, linkedByEmail: true };
  }
  throw signInFailed('GitHub has not verified your e-mail address. Verify it there, then sign in again.');
};

/** Another caller has just taken the address or the identity: what there is now decides. */
const wasTaken = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'DUPLICATE_VALUE' || error.code === 'DEVELOPER_EXISTS');

/**
 * The developer that an account at GitHub signs in to: who holds it, who has a matching verified address, or a new one,
 * by `decideLink`, where registration is not closed. Exact under parallel calls; a refusal is an `AppError` whose
 * message is for the person.
 */
export const linkDeveloper = async (profile: SocialProfile): Promise<LinkedDeveloper> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      const linked = await linkOnce(profile);
      if (linked) return linked;
    } catch (error) {
      if (!wasTaken(error)) throw error;
    }
  }
  throw new AppError('TOO_MANY_WRITERS', 'The account is being changed elsewhere. Please try again.', {
    retryAfter: 1,
  });
};
