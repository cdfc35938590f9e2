import { useSignal } from '@preact/signals';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Collection } from '../../../shared/collections/collection.ts';
import type { Operator, ParsedFilter } from '../../../shared/documents/query/filter.ts';
import { problemOf } from '../../api/problem.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Wrong } from '../../ui/wrong.tsx';
import { type Condition, filterOf, fitting, operatorsOf, valueChoice } from './filter-values.ts';

interface RowProps {
  readonly collection: Collection;
  readonly fields: readonly string[];
  readonly condition: Condition;
  readonly onChange: (condition: Condition) => void;
}

/** A condition: field, operator and value. */
const ConditionFields = ({ collection, fields, condition, onChange }: RowProps) => {
  const id = useId();
  const start = useRef<HTMLInputElement>(null);
  const { field, operator, text } = condition;
  const choice = valueChoice(collection, condition);
  const change = (changes: Partial<Condition>) => onChange(fitting(collection, { ...condition, ...changes }));
  useLayoutEffect(() => {
    start.current?.focus();
    start.current?.select();
  }, []);
  return (
    <>
      <input
        ref={start}
        class="input short mono"
        aria-label={t.documents.field}
        list={`${id}-fields`}
        autocomplete="off"
        required
        value={field}
        onInput={(event) => change({ field: event.currentTarget.value })}
      />
      <datalist id={`${id}-fields`}>
        {fields.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      <select
        class="input short"
        aria-label={t.documents.operator}
        value={operator}
        onInput={(event) => change({ operator: event.currentTarget.value as Operator })}
      >
        {operatorsOf(collection, field).map((one) => (
          <option key={one} value={one}>
            {t.operators[one]}
          </option>
        ))}
      </select>
      {'options' in choice ? (
        <select
          class="input short"
          aria-label={t.documents.value}
          value={text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        >
          {choice.options.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <input
          class="input short"
          aria-label={t.documents.value}
          placeholder={choice.example}
          autocomplete="off"
          value={text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
      )}
    </>
  );
};

interface Props extends Omit<RowProps, 'condition' | 'onChange'> {
  /** Alternatives, of which one must match. */
  readonly first: readonly Condition[];
  readonly onApply: (filter: ParsedFilter) => void;
  readonly onCancel: () => void;
}

/** Conditions of which one must match. They are applied by *Apply* only, and errors are the service's own. */
export const FilterForm = ({ first, onApply, onCancel, collection, fields }: Props) => {
  const draft = useSignal(first.map((one) => fitting(collection, one)));
  const wrong = useSignal<string | undefined>(undefined);
  const typed = useSignal(false);
  const change = (next: readonly Condition[]) => {
    draft.value = [...next];
    wrong.value = undefined;
  };
  const apply = () => {
    try {
      onApply(filterOf(collection, draft.peek()));
    } catch (error) {
      wrong.value = problemOf(error).message;
    }
  };
  return (
    <form
      class="condition stack"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        // Escape also closes the suggestions of a field and must not discard what was typed.
        if (!typed.peek()) onCancel();
      }}
    >
      {draft.value.map((condition, at) => (
        <fieldset key={at} class="row" aria-label={t.documents.condition(at + 1)}>
          {at > 0 && <span class="muted">{t.documents.or}</span>}
          <ConditionFields
            collection={collection}
            fields={fields}
            condition={condition}
            onChange={(next) => {
              typed.value = true;
              change(draft.peek().with(at, next));
            }}
          />
          {at > 0 && (
            <Button
              kind="plain"
              aria-label={t.documents.removeCondition(at + 1)}
              onClick={({ currentTarget }) => {
                // The removed element would take the focus with it.
                currentTarget.closest('form')?.querySelector('input')?.focus();
                change(draft.peek().toSpliced(at, 1));
              }}
            >
              ✕
            </Button>
          )}
        </fieldset>
      ))}
      <Wrong text={wrong.value} />
      <div class="row">
        <Button type="submit">{t.documents.apply}</Button>
        <Button kind="plain" onClick={() => change([...draft.peek(), ...draft.peek().slice(-1)])}>
          + {t.documents.or}
        </Button>
        <Button kind="plain" onClick={onCancel}>
          {t.acts.cancel}
        </Button>
      </div>
    </form>
  );
};
