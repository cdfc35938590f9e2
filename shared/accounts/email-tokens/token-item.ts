import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { SessionScope } from '../session-keys.ts';
import type { EmailTokenKind } from './email-token.ts';

/** Which mail: of what kind, to which address (by its key), of a project's users or of developers. */
export interface TokenPlace {
  readonly scope: SessionScope;
  readonly kind: EmailTokenKind;
  readonly addressKey: string;
}

/** The key of the one item that holds what the latest mail carried, as hashes. */
export const tokenItemKey = ({ scope, kind, addressKey }: TokenPlace) => ({
  pk: { S: scope },
  sk: { S: `email#${kind}#${addressKey}` },
});

/** The name of a place that the hash of a code is bound to. */
export const placeName = ({ scope, kind, addressKey }: TokenPlace): string => `${scope}/${kind}/${addressKey}`;

/** A DynamoDB number. */
export const number = (value: number): AttributeValue => ({ N: String(value) });
