import { docsSettings } from './config.ts';
import type { ErrorCode } from './errors.ts';

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** The members that every error body has; `docUrl` only if this function knows where the documents are. */
export const errorBody = ({ code, message }: Failure, requestId: string) => {
  const { DOCS_URL } = docsSettings();
  const docUrl = DOCS_URL && `${DOCS_URL}/reference/errors#${code.toLowerCase()}`;
  return { success: false as const, message, code, requestId, ...(docUrl && { docUrl }) };
};
