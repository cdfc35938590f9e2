import { hash, randomInt } from 'node:crypto';
import type { JWK } from 'jose';
import type { ObjectId } from 'mongodb';
import { ownerKeyOf } from '../persistence/item-keys.ts';
import { inControl } from '../persistence/mongo.ts';
import type { Placement } from '../persistence/records.ts';
import type { OwnerFacts } from './find-project.ts';
import { open } from './sealed.ts';
import type { SocialRegistrations } from './social/provider-rules.ts';
import {
  type Directory,
  type SignInMethods,
  type StoredSignInMethods,
  type StoredUploads,
  signInMethods,
  type UserUploads,
  userUploads,
} from './user-settings.ts';

export type PlanName = 'free' | 'pro';

/**
 * Our bucket, or a customer's S3-compatible one. Files belong to the storage (`id`) that they were uploaded to.
 * `sealedKeys`: see `sealStorageKeys`.
 */
export type StoragePlace =
  | { readonly kind: 'managed' }
  | {
      readonly kind: 'external';
      readonly id: string;
      readonly endpoint: string;
      readonly region: string;
      readonly bucket: string;
      readonly publicHost: string | null;
      readonly sealedKeys: string;
    };

export type EventKind = 'document' | 'user' | 'file';

/** `kid` is in the header of tokens. The private key is stored encrypted. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: JWK;
  readonly encryptedPrivateKey: string;
  /** After a rotation: signs from then on, when every function has the key. */
  readonly signsFrom?: Date;
  /** A replaced key verifies until then, when its last token has expired. */
  readonly retiresAt?: Date;
}

/** Input of domain functions. Ids are 24 hex characters. */
export interface Project {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly plan: PlanName;
  /** Identifies the owner for quotas across accounts with the same address; see `ownerKeyOf`. */
  readonly ownerKey: string;
  readonly ownerVerified: boolean;
  readonly placement: Placement;
  readonly storage: StoragePlace;
  readonly siteUrl: string | null;
  readonly allowedDomains: readonly string[];
  readonly allowPublicSignup: boolean;
  readonly authEnabled: boolean;
  readonly signIn: SignInMethods;
  /** True if anonymous users were ever allowed, so some may exist. */
  readonly hadAnonymous: boolean;
  readonly uploads: UserUploads;
  readonly signingKeys: readonly SigningKey[];
  readonly socialProviders: SocialRegistrations;
  /** Sealed to `providerKeyId`; `null`: the shared key. */
  readonly sealedProviderApiKey: string | null;
  /** The sender with the project's own key: an address, or `Name <address>`. */
  readonly providerFromEmail: string | null;
  /** The events that webhooks subscribe to. */
  readonly hooks?: readonly EventKind[];
  readonly restricts?: readonly Restricts[];
  /** Without it users cannot find each other. */
  readonly directory?: Directory;
  /** Writes with the publishable key check that the user's session has not ended. */
  readonly strictSessions?: true;
  /** The collections whose documents have or had files. */
  readonly attached?: readonly string[];
}

/** Collections where `by` had a Ref to `target` with `onDelete`; the current schema decides. */
interface Restricts {
  readonly by: string;
  readonly target: string;
}

/** The kind of key, the user of a valid token, and whether the user signed in with a second factor. */
export interface Caller {
  readonly kind: 'publishable' | 'secret';
  readonly userId?: string;
  readonly mfa?: true;
  /** The token was invalid, which some collections reject. */
  readonly hasInvalidToken?: true;
}

/** Each role includes those before it. A project has one owner. */
export type Role = 'viewer' | 'admin' | 'owner';

export const memberRoles = ['viewer', 'admin'] as const satisfies readonly Role[];

export type MemberRole = (typeof memberRoles)[number];

const ranks: Readonly<Record<Role, number>> = { viewer: 0, admin: 1, owner: 2 };

export const includesRole = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed];

export type KeyKind = 'publishable' | 'secret';

/** `hash`: SHA-256. `expiresAt`: end of the grace period of a rotated key. */
export interface KeyRecord {
  readonly kind: KeyKind;
  readonly hash: string;
  readonly expiresAt: Date | null;
}

/** A developer with access to another developer's project. */
export interface MemberRecord {
  readonly developerId: ObjectId;
  readonly role: MemberRole;
  readonly addedAt: Date;
}

/** A pending invitation; only the SHA-256 of its token is stored. `email` is canonical. */
export interface InvitationRecord {
  readonly _id: ObjectId;
  readonly email: string;
  readonly role: MemberRole;
  readonly tokenHash: string;
  readonly invitedBy: ObjectId;
  /** The personal access token that created it. */
  readonly tokenId?: ObjectId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Where the documents are; the URI is sealed to `databaseUriId`. */
export type PlacementRecord = (
  | { readonly kind: 'managed'; readonly cell: string }
  | { readonly kind: 'external'; readonly encryptedUri: string; readonly host: string }
) &
  Pick<Placement, 'since'>;

/** The context to which the database URI is sealed. */
export const databaseUriId = (projectId: string): string => `${projectId}/database`;

export const toPlacement = (projectId: string, record: PlacementRecord): Placement =>
  record.kind === 'managed'
    ? record
    : { ...record, openUri: () => open(record.encryptedUri, databaseUriId(projectId)) };

/** In `control.projects`. `slot` numbers an owner's projects to enforce the plan's limit. */
export interface ProjectRecord {
  readonly _id: ObjectId;
  readonly ownerId: ObjectId;
  readonly slot: number;
  readonly state: 'active' | 'deleting';
  /** Time of the deletion, or of the last failed removal. */
  readonly deletingSince?: Date;
  readonly name: string;
  readonly trashDueAt?: Date;
  /** Earliest purge of the trash in the customer's database. */
  readonly ownPurgeAfter?: Date;
  readonly keys: readonly KeyRecord[];
  readonly publishableKey: string;
  /** `sk_live_…` and the last four characters. */
  readonly secretKeyHint: string;
  readonly placement: PlacementRecord;
  readonly storage?: StoragePlace;
  readonly siteUrl: string | null;
  readonly allowedDomains: readonly string[];
  readonly allowPublicSignup: boolean;
  readonly authEnabled: boolean;
  readonly signIn?: StoredSignInMethods;
  readonly uploads?: StoredUploads;
  readonly directory?: Directory | null;
  readonly signingKeys: readonly SigningKey[];
  readonly socialProviders?: SocialRegistrations;
  readonly members?: readonly MemberRecord[];
  readonly invitations?: readonly InvitationRecord[];
  readonly sealedProviderApiKey?: string | null;
  /** Verifies events of the project's own account at the mail provider. */
  readonly sealedProviderWebhookSecret?: string | null;
  readonly providerFromEmail?: string | null;
  /** The events that webhooks subscribe to; `version` counts additions. */
  readonly hooks?: { readonly kinds: readonly EventKind[]; readonly version: number };
  readonly restricts?: readonly Restricts[];
  readonly attached?: readonly string[];
  readonly strictSessions?: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const projectRecords = inControl<ProjectRecord>('projects');

export const secretKeyHint = (secretKey: string): string => `sk_live_…${secretKey.slice(-4)}`;

/** Without `OwnerFacts` the plan is `free`. */
export const toProject = (record: ProjectRecord & OwnerFacts): Project => ({
  id: record._id.toHexString(),
  name: record.name,
  ownerId: record.ownerId.toHexString(),
  plan: record.plan ?? 'free',
  ownerKey: ownerKeyOf(record.ownerEmail ?? record.ownerId.toHexString()),
  ownerVerified: record.ownerVerified ?? false,
  placement: toPlacement(record._id.toHexString(), record.placement),
  storage: record.storage ?? { kind: 'managed' },
  siteUrl: record.siteUrl,
  allowedDomains: record.allowedDomains,
  allowPublicSignup: record.allowPublicSignup,
  authEnabled: record.authEnabled,
  signIn: signInMethods(record.signIn),
  uploads: userUploads(record.uploads),
  hadAnonymous: record.signIn?.anonymous !== undefined,
  signingKeys: record.signingKeys,
  socialProviders: record.socialProviders ?? {},
  sealedProviderApiKey: record.sealedProviderApiKey ?? null,
  providerFromEmail: record.providerFromEmail ?? null,
  ...(record.hooks && { hooks: record.hooks.kinds }),
  ...(record.restricts && { restricts: record.restricts }),
  ...(record.directory && { directory: record.directory }),
  ...(record.strictSessions && { strictSessions: true as const }),
  ...(record.attached && { attached: record.attached }),
});

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const prefixes: Readonly<Record<KeyKind, string>> = { publishable: 'pk_live_', secret: 'sk_live_' };

const wellFormed = /^(pk|sk)_live_[0-9A-Za-z]{32}$/;

/** 32 base62 characters, 190 bits. */
export const newApiKey = (kind: KeyKind): string =>
  prefixes[kind] + Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');

/** Keys are stored as SHA-256 in hex. */
export const hashApiKey = (key: string): string => hash('sha256', key, 'hex');

/** `undefined` if it cannot be a key. */
export const kindOfKey = (key: string): KeyKind | undefined => {
  if (!wellFormed.test(key)) return undefined;
  return key.startsWith('pk') ? 'publishable' : 'secret';
};
