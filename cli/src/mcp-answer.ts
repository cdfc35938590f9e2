import { CommandError } from './terminal.ts';

/** A response to an agent. */
export interface Answer {
  [extra: string]: unknown;
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly isError?: boolean;
}

/** Of a complete response. The rest is left for its envelope and the note about the cut. */
const maxBytes = 256 * 1024 - 1024;

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** The longest beginning of a text that has at most `max` bytes as JSON. */
const beginningOf = (text: string, max: number): string => {
  let [low, high] = [0, Math.min(text.length, max)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (bytesOf(text.slice(0, middle)) <= max) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low).replace(/[\ud800-\udbff]$/, '');
};

const secretPattern = /\b(?:[ps]k_live_|bslt_pat_|whsec_)[\w+/=-]+/g;

/** Replaces what looks like a key or token, for example in a document. */
const withoutSecrets = (text: string): string => text.replace(secretPattern, '…');

const answerOf = (full: string, isError: boolean): Answer => {
  const text = withoutSecrets(full);
  const shown = bytesOf(text) <= maxBytes ? text : beginningOf(text, maxBytes);
  const note = `Cut at 256 KiB. The complete response has ${Math.ceil(Buffer.byteLength(text) / 1024)} KiB. Ask for less: use where, limit, or $project.`;
  return {
    content: [{ type: 'text', text: shown }, ...(shown === text ? [] : [{ type: 'text' as const, text: note }])],
    ...(isError && { isError }),
  };
};

/** Runs a tool. An error becomes a response, so that the agent can correct its request. */
export const answerBy = async (act: () => Promise<unknown>, onFailure: (message: string) => void): Promise<Answer> => {
  try {
    return answerOf(JSON.stringify(await act()), false);
  } catch (error) {
    if (error instanceof CommandError) return answerOf(error.message, true);
    onFailure(String(error));
    return answerOf('The tool failed. Its error is on the standard error of basalt mcp.', true);
  }
};
