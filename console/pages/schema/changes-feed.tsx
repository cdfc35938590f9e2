import { t } from '../../text/words.ts';
import type { Part } from '../../ui/saved-draft.ts';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { FieldDraft } from './schema-draft.ts';

/** Whether changes are recorded for syncing, and the field that divides them. */
export const ChangesFeed = ({
  on,
  partition,
  fields,
}: {
  readonly on: Part<boolean>;
  readonly partition: Part<string>;
  readonly fields: readonly FieldDraft[];
}) => {
  const keys = fields.filter(({ type }) => type === 'String' || type === 'Ref').map(({ key }) => key);
  const names = [...new Set([...keys.filter(Boolean), ...(partition.value === '' ? [] : [partition.value])])];
  return (
    <section class="card stack">
      <h2>{t.changes.title}</h2>
      <p>{on.value ? t.changes.on : t.changes.off}</p>
      <Switch
        label={t.changes.enabled}
        on={on.value}
        onChange={(is) => {
          on.value = is;
        }}
      />
      {on.value && names.length > 0 && (
        <div class="measure">
          <Select
            label={t.changes.partition}
            hint={t.changes.partitionWhy}
            value={partition.value}
            options={[['', t.changes.unpartitioned], ...names.map((field) => [field, field] as const)]}
            onInput={({ currentTarget: { value } }) => {
              partition.value = value;
            }}
          />
        </div>
      )}
    </section>
  );
};
