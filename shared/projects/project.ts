import type { JWK } from 'jose';
import type { ObjectId } from 'mongodb';
import { ownerKeyOf } from '../persistence/item-keys.ts';
import { inControl } from '../persistence/mongo.ts';
import type { Placement } from '../persistence/records.ts';
import type { OwnerFacts } from './find-project.ts';
import { open } from './sealed.ts';
import { type StoredUploads, type UserUploads, userUploads } from './settings.ts';
import { type SignInMethods, type StoredSignInMethods, signInMethods } from './sign-in-methods.ts';
import type { SocialRegistrations } from './social/provider-rules.ts';

export type PlanName = 'free' | 'pro';

/**
 * Where a project's files live: our bucket, or an S3-compatible one of its own. Files are known under the storage
 * (`id`) they were put into; `sealedKeys`: see `sealStorageKeys`.
 */
export type StoragePlace =
  | { readonly kind: 'managed' }
  | {
      readonly kind: 'external';
      readonly id: string;
      readonly endpoint: string;
      readonly region: string;
      readonly bucket: string;
      /** Base address under which the bucket's objects can be read by anybody. */
      readonly publicHost: string | null;
      readonly sealedKeys: string;
    };

/** What an event of a project is about. */
export type EventKind = 'document' | 'user' | 'file';

/** A public signing key of a project: `kid` names it in tokens. The private half stays encrypted in the record. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: JWK;
  readonly encryptedPrivateKey: string;
  /** A key added by a rotation signs from this time on, when every function has it. */
  readonly signsFrom?: Date;
  /** A replaced key verifies until this time, when the last token it signed has expired. */
  readonly retiresAt?: Date;
}

/** A project as every domain function that touches data receives it. Ids are 24 hex characters. */
export interface Project {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly plan: PlanName;
  /** What the owner is counted by, whichever account they have with their address; see `ownerKeyOf`. */
  readonly ownerKey: string;
  readonly ownerVerified: boolean;
  readonly placement: Placement;
  readonly storage: StoragePlace;
  readonly siteUrl: string | null;
  readonly allowedDomains: readonly string[];
  readonly allowPublicSignup: boolean;
  readonly authEnabled: boolean;
  readonly signIn: SignInMethods;
  /** Whether anonymous users were ever allowed, so that there may be some. */
  readonly hadAnonymous: boolean;
  readonly uploads: UserUploads;
  readonly signingKeys: readonly SigningKey[];
  readonly socialProviders: SocialRegistrations;
  /** The project's own key at the mail provider, sealed to `providerKeyId`; `null` where it uses the shared one. */
  readonly sealedProviderApiKey: string | null;
  /** Who mails sent with the own key are from: an address, or `Name <address>`. */
  readonly providerFromEmail: string | null;
  /** What its webhooks are told of, where it has some. */
  readonly hooks?: readonly EventKind[];
  readonly restricts?: readonly Restricts[];
}

/** Collections of which one had a Ref with `"onDelete": "restrict"` to the other; whether it still has, its schema says. */
interface Restricts {
  readonly by: string;
  readonly target: string;
}

/**
 * Who makes a request on a project: the kind of key, the end user where a valid token came with it, and whether they
 * signed in with a second factor.
 */
export interface Caller {
  readonly kind: 'publishable' | 'secret';
  readonly userId?: string;
  readonly mfa?: true;
  /** A token came that is not valid, which a collection may refuse; there is no user then. */
  readonly hasInvalidToken?: true;
}

/** What a developer may do in a project; each role includes those before it. A project has one owner. */
export type Role = 'viewer' | 'admin' | 'owner';

/** The roles that members can be given; the owner is whoever made the project. */
export const memberRoles = ['viewer', 'admin'] as const satisfies readonly Role[];

export type MemberRole = (typeof memberRoles)[number];

const ranks: Readonly<Record<Role, number>> = { viewer: 0, admin: 1, owner: 2 };

export const includesRole = (role: Role, needed: Role): boolean => ranks[role] >= ranks[needed];

export type KeyKind = 'publishable' | 'secret';

/** An API key as it is kept: SHA-256 only. `expiresAt` is set on a rotated key that still has its grace. */
export interface KeyRecord {
  readonly kind: KeyKind;
  readonly hash: string;
  readonly expiresAt: Date | null;
}

/** A developer who works in a project that is another's. */
export interface MemberRecord {
  readonly developerId: ObjectId;
  readonly role: MemberRole;
  readonly addedAt: Date;
}

/** An invitation that has not been accepted; of its token only the SHA-256 is kept. `email` is canonical. */
export interface InvitationRecord {
  readonly _id: ObjectId;
  readonly email: string;
  readonly role: MemberRole;
  readonly tokenHash: string;
  readonly invitedBy: ObjectId;
  /** The personal access token that it was made with, if it was. */
  readonly tokenId?: ObjectId;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Where the documents live; the URI of an own database is sealed to `databaseUriId`. */
export type PlacementRecord = (
  | { readonly kind: 'managed'; readonly cell: string }
  | { readonly kind: 'external'; readonly encryptedUri: string; readonly host: string }
) &
  Pick<Placement, 'since'>;

/** What the URI of a project's own database is sealed to: the project's record and its place in it. */
export const databaseUriId = (projectId: string): string => `${projectId}/database`;

/** The placement as domain functions take it: they cannot read the URI, but have it opened. */
export const toPlacement = (projectId: string, record: PlacementRecord): Placement =>
  record.kind === 'managed'
    ? record
    : { ...record, openUri: () => open(record.encryptedUri, databaseUriId(projectId)) };

/** A document of `control.projects`. `slot` numbers an owner's projects, for the plan's limit. */
export interface ProjectRecord {
  readonly _id: ObjectId;
  readonly ownerId: ObjectId;
  readonly slot: number;
  readonly state: 'active' | 'deleting';
  /** When it was deleted, or its removal failed last. */
  readonly deletingSince?: Date;
  readonly name: string;
  /** When its trash is due to be purged; absent: now. */
  readonly trashDueAt?: Date;
  /** Until then the trash in its own database is left alone. */
  readonly ownPurgeAfter?: Date;
  readonly keys: readonly KeyRecord[];
  readonly publishableKey: string;
  /** `sk_live_…` and the last four characters. */
  readonly secretKeyHint: string;
  readonly placement: PlacementRecord;
  /** Left out: our bucket. */
  readonly storage?: StoragePlace;
  readonly siteUrl: string | null;
  readonly allowedDomains: readonly string[];
  readonly allowPublicSignup: boolean;
  readonly authEnabled: boolean;
  readonly signIn?: StoredSignInMethods;
  readonly uploads?: StoredUploads;
  readonly signingKeys: readonly SigningKey[];
  readonly socialProviders?: SocialRegistrations;
  readonly members?: readonly MemberRecord[];
  readonly invitations?: readonly InvitationRecord[];
  readonly sealedProviderApiKey?: string | null;
  /** What the project's own account at the mail provider signs its events with. */
  readonly sealedProviderWebhookSecret?: string | null;
  readonly providerFromEmail?: string | null;
  /** What its webhooks are told of; `version` counts the additions. */
  readonly hooks?: { readonly kinds: readonly EventKind[]; readonly version: number };
  readonly restricts?: readonly Restricts[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const projectRecords = inControl<ProjectRecord>('projects');

export const secretKeyHint = (secretKey: string): string => `sk_live_…${secretKey.slice(-4)}`;

/** The project as domain functions take it; without what `withOwner` adds it is on the free plan. */
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
});
