import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../infra/build/function-files.ts';
import { type ErrorCode, statusOf } from '../../shared/core/errors.ts';
import { generated } from './generated.ts';

const titles: Readonly<Record<number, string>> = {
  400: 'The request is not valid',
  401: 'A key, token or other credential is missing or invalid',
  403: 'The caller does not have permission',
  404: 'Not found, or hidden from the caller',
  409: 'Conflict with the current state',
  410: 'No longer available',
  412: 'A condition of the request does not hold',
  413: 'Too large',
  415: 'Unsupported type or encoding',
  422: 'The mail provider cannot process the content',
  429: 'Too many requests',
  500: 'Internal error',
  501: 'Not set up',
  502: 'An external service failed',
  503: 'Temporarily unavailable',
};

/** Code → its comment in errors.ts, which says what it means and what to do. */
export const meaningsOfCodes = (): ReadonlyMap<string, string> => {
  const lines = readFileSync(join(root, 'shared/core/errors.ts'), 'utf8').matchAll(
    /^ {2}([A-Z_]+): (\d{3}),(?: \/\/ (.+))?$/gm,
  );
  return new Map([...lines].map(([, code = '', , meaning = '']) => [code, meaning]));
};

/** docs/reference/errors.md: one heading a code, so that `errors.md#invalid_filter` leads to it. */
export const errorsPage = (): string => {
  const meanings = meaningsOfCodes();
  const byStatus = Map.groupBy((Object.keys(statusOf) as ErrorCode[]).sort(), (code) => statusOf[code]);
  const sections = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => {
      const entries = codes.map((code) => `\n### ${code}\n\n${meanings.get(code)}\n`);
      return `\n## ${status}: ${titles[status]}\n${entries.join('')}`;
    });
  return `${generated}# Error codes

Every error response is \`{"success": false, "message", "code", "requestId", "docUrl"}\`; failed validations add \`errors\`.

- \`message\` is for people: what was wrong, and what to do in this case.
- \`code\` is for programs. A code always has the same status.
- \`requestId\` identifies the request in the log. Send it with a question to the operator.
- \`docUrl\` is the address of the code on this page.
- Responses with 429 and 503 have \`Retry-After\`, in seconds.
${sections.join('')}`;
};
