import { askLanguageModel, type ChatMessage, hasLanguageModel } from '../../clients/chat-completions.ts';
import { cutText } from '../../core/bounded-text.ts';
import { assistantSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { log } from '../../core/log.ts';
import type { Project } from '../../projects/project.ts';
import { giveBack } from '../../table/counter.ts';
import { instructions } from './instructions.ts';
import { countProposal } from './monthly-cap.ts';
import { type Proposal, parseProposal } from './proposal.ts';

/** The longest description, in characters. */
export const maxPromptLength = 4000;

/** How many characters of an unusable answer are sent back to the model. */
const shownAgain = 16_000;

const notConfigured = (): AppError =>
  new AppError(
    'NOT_SET_UP',
    'The schema assistant is not set up on this service. Define the schema by hand, or ask its operator.',
  );

const noAnswer = (reason: string): AppError =>
  new AppError('ASSISTANT_UNAVAILABLE', 'The schema assistant does not answer right now. Please try again.', {
    cause: new Error(reason),
    retryAfter: 10,
  });

const nothingUsable = (reason: string): AppError =>
  new AppError(
    'ASSISTANT_FAILED',
    'The schema assistant found no usable schema. Describe the data in other words, or define the schema by hand.',
    { cause: new Error(reason) },
  );

/** The messages of the second attempt: the unusable answer, if there was one, and what was wrong with it. */
const repair = (answer: string, reason: string): readonly ChatMessage[] => [
  { role: 'assistant', content: cutText(answer, shownAgain) },
  { role: 'user', content: `That cannot be used: ${reason}. Answer with the corrected JSON object and nothing else.` },
];

const propose = async (prompt: string): Promise<Proposal> => {
  const signal = AbortSignal.timeout(assistantSettings().AI_TIMEOUT_SECONDS * 1000);
  const begin: readonly ChatMessage[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: prompt },
  ];
  let messages = begin;
  let reason = '';
  for (let attempt = 1; attempt <= 2; attempt++) {
    const outcome = await askLanguageModel(messages, signal);
    if (outcome.kind === 'unavailable') throw noAnswer(outcome.reason);
    if (outcome.kind === 'unusable') {
      ({ reason } = outcome);
      continue;
    }
    const read = parseProposal(outcome.content);
    if (read.usable) return read.proposal;
    ({ reason } = read);
    messages = [...begin, ...repair(outcome.content, reason)];
  }
  throw nothingUsable(reason);
};

/**
 * Proposes a collection for data that is described in words; nothing is created. What the language model answers is
 * held to the rules of collections, with one further try that tells it what was wrong, all within 20 s. Not configured
 * → 501 `NOT_SET_UP`, no answer → 503 `ASSISTANT_UNAVAILABLE` (neither counted); nothing usable → 502
 * `ASSISTANT_FAILED`; over the month's proposals → 429 `ASSISTANT_QUOTA_EXCEEDED`.
 */
export const proposeSchema = async (project: Project, prompt: string): Promise<Proposal> => {
  if (!hasLanguageModel()) throw notConfigured();
  const counted = await countProposal(project);
  try {
    return await propose(prompt);
  } catch (error) {
    if (error instanceof AppError && error.code === 'ASSISTANT_UNAVAILABLE') {
      await giveBack(counted).catch(() => log.warn({ message: 'A proposal stays counted', project: project.id }));
    }
    throw error;
  }
};
