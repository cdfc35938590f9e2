import { type Draft, draftFrom, type JsonObject } from './document-draft.ts';

/** A field that differs between a draft and the document as others have saved it meanwhile. */
export interface Conflict {
  readonly key: string;
  readonly mine: unknown;
  readonly theirs: unknown;
  /** Who changed it since the draft was begun. */
  readonly changedBy: 'mine' | 'theirs' | 'both';
}

/** Whose value of a field is kept. */
export type Choice = 'mine' | 'theirs';

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** The fields of which a choice is to be made, in the order of the draft. */
export const conflictsOf = ({ base, value }: Draft, document: JsonObject): readonly Conflict[] => {
  const theirs = draftFrom(document).base;
  return [...new Set([...Object.keys(value), ...Object.keys(theirs)])].flatMap((key): Conflict[] => {
    if (isSame(value[key], theirs[key])) return [];
    const changedBy = isSame(base[key], theirs[key]) ? 'mine' : isSame(base[key], value[key]) ? 'theirs' : 'both';
    return [{ key, mine: value[key], theirs: theirs[key], changedBy }];
  });
};

/** What is kept where nothing was chosen: what only one of both has changed; of other fields one has to say. */
export const choiceOf = ({ key, changedBy }: Conflict, choices: Readonly<Record<string, Choice>>): Choice | undefined =>
  choices[key] ?? (changedBy === 'both' ? undefined : changedBy);

/** The draft anew, upon the document as it is now, with the own values that were chosen. */
export const rebased = (
  document: JsonObject,
  conflicts: readonly Conflict[],
  choices: Readonly<Record<string, Choice>>,
): Draft => {
  const draft = draftFrom(document);
  const kept = conflicts.filter((conflict) => choiceOf(conflict, choices) === 'mine' && conflict.mine !== undefined);
  return { ...draft, value: { ...draft.base, ...Object.fromEntries(kept.map(({ key, mine }) => [key, mine])) } };
};
