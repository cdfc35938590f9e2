import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { FieldType } from '../../../shared/collections/schema/field-types.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { ConditionForm } from './condition-form.tsx';
import type { Condition } from './list-address.ts';

interface Props {
  readonly conditions: readonly Condition[];
  /** A condition as JSON, which is typed in the request. */
  readonly where: string | undefined;
  /** Fields that there are; others can be typed. */
  readonly fields: readonly string[];
  readonly typeOf: (path: string) => FieldType | undefined;
  /** Whether a condition is being added. */
  readonly adding: Signal<boolean>;
  /** Parameters of the address, set or taken out. */
  readonly onChange: (changes: Readonly<Record<string, string | undefined>>) => void;
  readonly children: ComponentChildren;
}

/** The conditions of a list, each as it is sent: to change, to take away, and to add another. */
export const FilterBar = ({ conditions, where, fields, typeOf, adding, onChange, children }: Props) => {
  const changing = useSignal<string | undefined>(undefined);
  const form = (first: Omit<Condition, 'parameter'>, replaced: string | undefined) => {
    const close = () => {
      adding.value = false;
      changing.value = undefined;
    };
    return (
      <ConditionForm
        key={replaced ?? ''}
        first={first}
        fields={fields}
        typeOf={typeOf}
        onCancel={close}
        onApply={(parameter, value) => {
          close();
          onChange({ ...(replaced === undefined ? {} : { [replaced]: undefined }), [parameter]: value });
        }}
      />
    );
  };
  return (
    <div class="row">
      {conditions.map(({ parameter, ...condition }) =>
        changing.value === parameter ? (
          form(condition, parameter)
        ) : (
          <span key={parameter} class="chip">
            <button
              type="button"
              class="mono"
              onClick={() => {
                adding.value = false;
                changing.value = parameter;
              }}
            >
              {condition.field} {t.operators[condition.operator]} {condition.value}
            </button>
            <button
              type="button"
              aria-label={t.documents.removeFilter(condition.field)}
              onClick={() => onChange({ [parameter]: undefined })}
            >
              ✕
            </button>
          </span>
        ),
      )}
      {where && (
        <span class="chip">
          <span class="mono chip-text" title={where}>
            where {where}
          </span>
          <button
            type="button"
            aria-label={t.documents.removeFilter('where')}
            onClick={() => onChange({ where: undefined })}
          >
            ✕
          </button>
        </span>
      )}
      {adding.value ? (
        form({ field: fields[0] ?? '_id', operator: 'eq', value: '' }, undefined)
      ) : (
        <Button
          kind="plain"
          onClick={() => {
            changing.value = undefined;
            adding.value = true;
          }}
        >
          + {t.documents.filter}
        </Button>
      )}
      <span class="grow" />
      {children}
    </div>
  );
};
