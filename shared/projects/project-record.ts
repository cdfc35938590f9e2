import type { ObjectId } from 'mongodb';
import { inControl } from '../clients/mongo.ts';
import type { Placement } from '../clients/placement.ts';
import { ownerKeyOf } from '../table/owner-key.ts';
import type { EventKind, Project, SigningKey, StoragePlace } from './project.ts';
import type { MemberRole } from './roles.ts';
import { open } from './sealed.ts';
import { type StoredWays, signInWays } from './sign-in-ways.ts';
import type { SocialRegistrations } from './social/registration.ts';
import { type StoredUploads, userUploads } from './user-uploads.ts';
import type { OwnerFacts } from './with-owner.ts';

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
  readonly signIn?: StoredWays;
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
  signIn: signInWays(record.signIn),
  uploads: userUploads(record.uploads),
  hadAnonymous: record.signIn?.anonymous !== undefined,
  signingKeys: record.signingKeys,
  socialProviders: record.socialProviders ?? {},
  sealedProviderApiKey: record.sealedProviderApiKey ?? null,
  providerFromEmail: record.providerFromEmail ?? null,
  ...(record.hooks && { hooks: record.hooks.kinds }),
});
