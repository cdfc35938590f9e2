import type { JWK } from 'jose';
import type { Placement } from '../clients/placement.ts';
import type { SignInWays } from './sign-in-ways.ts';
import type { SocialRegistrations } from './social/registration.ts';
import type { UserUploads } from './user-uploads.ts';

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
  readonly signIn: SignInWays;
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
}

/**
 * Who makes a request on a project: the kind of key, the end user where a valid token came with it, and whether they
 * signed in with a second factor.
 */
export interface Caller {
  readonly kind: 'publishable' | 'secret';
  readonly userId?: string;
  readonly mfa?: true;
}
