import { useSignal } from '@preact/signals';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { type Condition, type Operator, operators, parameterOf } from './list-address.ts';

interface Props {
  readonly conditions: readonly Condition[];
  readonly fields: readonly string[];
  /** Parameters of the address, set or taken out. */
  readonly onChange: (changes: Readonly<Record<string, string | undefined>>) => void;
}

/** The conditions of a list, each as it is sent, and a line to add one. */
export const FilterBar = ({ conditions, fields, onChange }: Props) => {
  const draft = useSignal<{ field: string; operator: Operator; value: string } | undefined>(undefined);
  const add = () => {
    const { field = '', operator = 'eq', value = '' } = draft.value ?? {};
    draft.value = undefined;
    onChange({ [parameterOf(field, operator)]: value });
  };
  return (
    <div class="row">
      {conditions.map(({ parameter, field, operator, value }) => (
        <span key={parameter} class="chip">
          <span class="mono">
            {field} {t.operators[operator]} {value}
          </span>
          <button
            type="button"
            aria-label={t.documents.removeFilter(field)}
            onClick={() => onChange({ [parameter]: undefined })}
          >
            ✕
          </button>
        </span>
      ))}
      {draft.value ? (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
        >
          <select
            class="input short"
            aria-label={t.documents.field}
            value={draft.value.field}
            onInput={(event) => {
              if (draft.value) draft.value = { ...draft.value, field: event.currentTarget.value };
            }}
          >
            {fields.map((field) => (
              <option key={field}>{field}</option>
            ))}
          </select>
          <select
            class="input short"
            aria-label={t.documents.operator}
            value={draft.value.operator}
            onInput={(event) => {
              if (draft.value) draft.value = { ...draft.value, operator: event.currentTarget.value as Operator };
            }}
          >
            {operators.map((operator) => (
              <option key={operator} value={operator}>
                {t.operators[operator]}
              </option>
            ))}
          </select>
          <input
            class="input short"
            aria-label={t.documents.value}
            required
            value={draft.value.value}
            onInput={(event) => {
              if (draft.value) draft.value = { ...draft.value, value: event.currentTarget.value };
            }}
          />
          <Button type="submit">{t.documents.apply}</Button>
          <Button
            kind="plain"
            onClick={() => {
              draft.value = undefined;
            }}
          >
            {t.acts.cancel}
          </Button>
        </form>
      ) : (
        <Button
          kind="plain"
          onClick={() => {
            draft.value = { field: fields[0] ?? '_id', operator: 'eq', value: '' };
          }}
        >
          + {t.documents.filter}
        </Button>
      )}
    </div>
  );
};
