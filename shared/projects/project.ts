import type { JWK } from 'jose';
import type { SocialProviders } from './social-providers.ts';

export type PlanName = 'free' | 'pro';

/** Where a project's documents live: one of our clusters, or the project's own database. */
export type Placement =
  | { readonly kind: 'managed'; readonly cell: string }
  | { readonly kind: 'external'; readonly encryptedUri: string; readonly host: string };

/** A public signing key of a project: `kid` names it in tokens. The private half stays encrypted in the record. */
export interface SigningKey {
  readonly kid: string;
  readonly publicKey: JWK;
  readonly encryptedPrivateKey: string;
  /** A key that a rotation added signs from then on: every function knows it by that time. */
  readonly signsFrom?: Date;
  /** A key that a rotation replaced verifies until then: the last token it signed has expired by that time. */
  readonly retiresAt?: Date;
}

/** A project as every domain function that touches data receives it. Ids are 24 hex characters. */
export interface Project {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly plan: PlanName;
  readonly placement: Placement;
  readonly siteUrl: string | null;
  readonly allowedDomains: readonly string[];
  readonly allowPublicSignup: boolean;
  readonly authEnabled: boolean;
  readonly signingKeys: readonly SigningKey[];
  readonly socialProviders: SocialProviders;
}

/** Who makes a request on a project: the kind of key, and the end user where a valid token came with it. */
export interface Caller {
  readonly kind: 'publishable' | 'secret';
  readonly userId?: string;
}
