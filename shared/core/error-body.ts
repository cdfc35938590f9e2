import { docsSettings } from './config.ts';
import type { ErrorCode } from './errors.ts';

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The fields of every error body. Functions that do not know the documentation's address omit `docUrl`. */
export const errorBody = ({ code, message }: Failure, requestId: string) => {
  const { DOCS_URL } = docsSettings();
  const docUrl = DOCS_URL && `${DOCS_URL}/reference/errors#${code.toLowerCase()}`;
  return { success: false as const, message, code, requestId, ...(docUrl && { docUrl }) };
};
