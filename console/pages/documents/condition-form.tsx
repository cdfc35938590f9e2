import { useSignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { FieldType } from '../../../shared/collections/schema/field-types.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { fitting, operatorsFor, valueChoice } from './filter-operators.ts';
import { type Condition, type Operator, parameterOf } from './list-address.ts';

interface Props {
  readonly first: Omit<Condition, 'parameter'>;
  readonly fields: readonly string[];
  readonly typeOf: (path: string) => FieldType | undefined;
  readonly onApply: (parameter: string, value: string) => void;
  readonly onCancel: () => void;
}

/** A condition, put together of a field, what it is compared by, and a value. It is asked for by *Apply* alone. */
export const ConditionForm = ({ first, fields, typeOf, onApply, onCancel }: Props) => {
  const id = useId();
  const start = useRef<HTMLInputElement>(null);
  const draft = useSignal(fitting(typeOf(first.field), first));
  const { field, operator, value } = draft.value;
  const type = typeOf(field);
  const choice = valueChoice(type, operator);
  const change = (changes: Partial<typeof first>) => {
    const next = { ...draft.peek(), ...changes };
    draft.value = fitting(typeOf(next.field), next);
  };
  useEffect(() => {
    start.current?.focus();
    start.current?.select();
  }, []);
  return (
    <form
      class="row condition"
      onSubmit={(event) => {
        event.preventDefault();
        const now = draft.peek();
        onApply(parameterOf(now.field, now.operator), now.value);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
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
        {operatorsFor(type).map((one) => (
          <option key={one} value={one}>
            {t.operators[one]}
          </option>
        ))}
      </select>
      {'options' in choice ? (
        <select
          class="input short"
          aria-label={t.documents.value}
          value={value}
          onInput={(event) => change({ value: event.currentTarget.value })}
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
          required
          value={value}
          onInput={(event) => change({ value: event.currentTarget.value })}
        />
      )}
      <Button type="submit">{t.documents.apply}</Button>
      <Button kind="plain" onClick={onCancel}>
        {t.acts.cancel}
      </Button>
    </form>
  );
};
