import { itemKey, type Key } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import type { SessionScope } from '../session-keys.ts';
import type { EmailTokenKind } from './email-token.ts';

/** Which mail: of what kind, to which address (by its key), of a project's users or of developers. */
export interface TokenPlace {
  readonly scope: SessionScope;
  readonly kind: EmailTokenKind;
  readonly addressKey: string;
}

/** What the latest mail carried, as hashes; times in seconds since 1970. A try for an unknown address makes it too. */
export type TokenItem = Key & {
  readonly email?: string;
  /** Missing for an address that has no account. */
  readonly userId?: string;
  readonly tokenHash?: string;
  readonly codeHash?: string;
  readonly codeExpiresAt?: number;
  readonly tries: number;
  readonly issuedAt?: number;
  readonly expiresAt: number;
};

/** The key of the one item of a place. */
export const tokenItemKey = ({ scope, kind, addressKey }: TokenPlace): Key =>
  itemKey(kinds.emailToken, scope, { kind, addressKey });

/** The name of a place that the hash of a code is bound to. */
export const placeName = ({ scope, kind, addressKey }: TokenPlace): string => `${scope}/${kind}/${addressKey}`;
