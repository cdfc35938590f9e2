import type { Collection, EffectInput } from '../../../shared/collections/collection.ts';
import { isPlainObject, parseJsonValue } from '../../../shared/core/json.ts';
import { Problem } from '../../api/problem.ts';
import { effects as texts } from '../../text/effects.ts';
import { Button } from '../../ui/button.tsx';
import { JsonEditor } from '../../ui/json-editor.tsx';
import { Explained } from '../access/explained.tsx';
import { effectSentences } from './effect-sentences.ts';

/** An effect of the list. `text` is its JSON while it is edited. */
export interface EffectItem {
  readonly id: number;
  readonly effect: EffectInput;
  readonly text?: string | undefined;
}

/** The JSON object in a text. Anything else is an error of the field. */
export const objectIn = (text: string, field: string, message: string = texts.noObject): EffectInput => {
  let value: unknown;
  try {
    value = parseJsonValue(text);
  } catch {
    value = undefined;
  }
  if (isPlainObject(value)) return value;
  throw new Problem(400, { message, errors: [{ field, message }] });
};

const readable = (text: string): EffectInput | undefined => {
  try {
    return objectIn(text, '');
  } catch {
    return undefined;
  }
};

/** An effect in words. */
export const Sentences = ({
  effect,
  collection,
  known,
}: {
  readonly effect: EffectInput;
  readonly collection: Collection;
  readonly known: readonly Collection[];
}) => {
  const { when, does } = effectSentences(effect, collection, known);
  return (
    <div class="effect-words">
      <p>
        <Explained sentences={[when]} />
      </p>
      <ul>
        {does.map((sentence, place) => (
          <li key={`${place} ${sentence}`}>
            <Explained sentences={[sentence]} />
          </li>
        ))}
      </ul>
    </div>
  );
};

interface Props {
  readonly number: number;
  readonly item: EffectItem;
  readonly collection: Collection;
  readonly known: readonly Collection[];
  readonly wrong: string | undefined;
  readonly hints: readonly string[];
  readonly onChange: (changes: Partial<EffectItem>) => void;
  readonly onUp: (() => void) | undefined;
  readonly onRemove: () => void;
}

/** An effect as a list of sentences, with its JSON on demand. */
export const EffectCard = ({ number, item, collection, known, wrong, hints, onChange, onUp, onRemove }: Props) => {
  const { effect, text } = item;
  const isOpen = text !== undefined;
  const isUnread = isOpen && readable(text) === undefined;
  return (
    <li class="card stack" aria-label={texts.number(number)}>
      <Sentences effect={effect} collection={collection} known={known} />
      {isOpen && (
        <JsonEditor
          low
          label={texts.json(number)}
          text={text}
          unread={isUnread ? texts.noObject : undefined}
          wrong={wrong}
          onInput={(typed) => onChange({ text: typed, effect: readable(typed) ?? effect })}
        />
      )}
      {!isOpen && wrong && (
        <p class="note problem" role="alert">
          {wrong}
        </p>
      )}
      {hints.map((hint) => (
        <p key={hint} class="note warning">
          {hint}
        </p>
      ))}
      <div class="row">
        {isOpen ? (
          <Button disabled={isUnread} aria-label={texts.doneOf(number)} onClick={() => onChange({ text: undefined })}>
            {texts.done}
          </Button>
        ) : (
          <Button aria-label={texts.editOf(number)} onClick={() => onChange({ text: JSON.stringify(effect, null, 2) })}>
            {texts.edit}
          </Button>
        )}
        {onUp && (
          <Button kind="plain" aria-label={texts.upOf(number)} onClick={onUp}>
            {texts.up}
          </Button>
        )}
        <Button kind="plain" aria-label={texts.removeOf(number)} onClick={onRemove}>
          {texts.remove}
        </Button>
      </div>
    </li>
  );
};
