import { type Draft, draftFrom, type JsonObject } from './document-draft.ts';

/** A field that differs between the draft and the document as others have saved it. */
export interface Conflict {
  readonly key: string;
  readonly mine: unknown;
  readonly theirs: unknown;
  /** Who changed it since the draft was begun. */
  readonly changedBy: 'mine' | 'theirs' | 'both';
}

/** Whose value is kept. */
export type Choice = 'mine' | 'theirs';

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** The fields that need a choice, in the order of the draft. */
export const conflictsOf = ({ base, value }: Draft, document: JsonObject): readonly Conflict[] => {
  const theirs = draftFrom(document).base;
  return [...new Set([...Object.keys(value), ...Object.keys(theirs)])].flatMap((key): Conflict[] => {
    if (isSame(value[key], theirs[key])) return [];
    const changedBy = isSame(base[key], theirs[key]) ? 'mine' : isSame(base[key], value[key]) ? 'theirs' : 'both';
    return [{ key, mine: value[key], theirs: theirs[key], changedBy }];
  });
};

/** The default choice: the side that changed the field. If both did, the reader must choose. */
export const choiceOf = ({ key, changedBy }: Conflict, choices: Readonly<Record<string, Choice>>): Choice | undefined =>
  choices[key] ?? (changedBy === 'both' ? undefined : changedBy);

/** The draft on top of the current document, with the chosen values. */
export const rebased = (
  document: JsonObject,
  conflicts: readonly Conflict[],
  choices: Readonly<Record<string, Choice>>,
): Draft => {
  const draft = draftFrom(document);
  const kept = conflicts.filter((conflict) => choiceOf(conflict, choices) === 'mine' && conflict.mine !== undefined);
  return { ...draft, value: { ...draft.base, ...Object.fromEntries(kept.map(({ key, mine }) => [key, mine])) } };
};
