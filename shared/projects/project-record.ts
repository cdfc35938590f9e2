import type { ObjectId } from 'mongodb';
import type { Placement, PlanName, Project, SigningKey } from './project.ts';
import type { SocialProviders } from './social-providers.ts';

export type KeyKind = 'publishable' | 'secret';

/** An API key as it is kept: SHA-256 only. `expiresAt` is set on a rotated key that still has its grace. */
export interface KeyRecord {
  readonly kind: KeyKind;
  readonly hash: string;
  readonly expiresAt: Date | null;
}

/** A document of `control.projects`. `slot` numbers an owner's projects, so that a unique index holds the plan's limit. */
export interface ProjectRecord {
  readonly _id: ObjectId;
  readonly ownerId: ObjectId;
  readonly slot: number;
  readonly state: 'active' | 'deleting';
  readonly deletingSince?: Date;
  readonly name: string;
  readonly keys: readonly KeyRecord[];
  readonly publishableKey: string;
  /** `sk_live_…` and the last four characters. */
  readonly secretKeyHint: string;
  readonly placement: Placement;
  readonly siteUrl: string | null;
  readonly allowedDomains: readonly string[];
  readonly allowPublicSignup: boolean;
  readonly authEnabled: boolean;
  readonly signingKeys: readonly SigningKey[];
  readonly socialProviders?: SocialProviders;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What is shown of a secret key after its creation. */
export const secretKeyHint = (secretKey: string): string => `sk_live_…${secretKey.slice(-4)}`;

/** The project as domain functions take it; the plan belongs to its owner. */
export const toProject = (record: ProjectRecord, plan: PlanName): Project => ({
  id: record._id.toHexString(),
  name: record.name,
  ownerId: record.ownerId.toHexString(),
  plan,
  placement: record.placement,
  siteUrl: record.siteUrl,
  allowedDomains: record.allowedDomains,
  allowPublicSignup: record.allowPublicSignup,
  authEnabled: record.authEnabled,
  signingKeys: record.signingKeys,
  socialProviders: record.socialProviders ?? {},
});
