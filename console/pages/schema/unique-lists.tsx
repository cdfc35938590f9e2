import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import type { Part } from '../../ui/saved-draft.ts';
import { Switch } from '../../ui/switch.tsx';

export interface ListDraft {
  readonly fields: string;
  readonly ignoreCase: boolean;
  readonly keepTrashed: boolean;
}

const emptyList: ListDraft = { fields: '', ignoreCase: false, keepTrashed: false };

export const listDraftsOf = (unique: Data<'get-collection'>['unique'] = []): readonly ListDraft[] =>
  unique.map(({ fields, ignoreCase = false, keepTrashed = false }) => ({
    fields: fields.join(', '),
    ignoreCase,
    keepTrashed,
  }));

export const listOf = ({ fields, ...flags }: ListDraft) => ({
  fields: fields.split(/[\s,]+/).filter(Boolean),
  ...flags,
});

/** Combinations of fields that only one document may have. */
export const UniqueLists = ({
  lists,
  wrong,
}: {
  readonly lists: Part<readonly ListDraft[]>;
  readonly wrong: (field: string) => string | undefined;
}) => {
  const change = (place: number, changes: Partial<ListDraft>) => {
    lists.value = lists.value.map((list, at) => (at === place ? { ...list, ...changes } : list));
  };
  return (
    <section class="card stack">
      <h2>{t.uniqueLists.title}</h2>
      <p class="measure">{t.uniqueLists.text}</p>
      {lists.value.map((list, place) => (
        <fieldset key={place} class="stack measure plain-group">
          <Field
            label={t.uniqueLists.fields(place + 1)}
            hint={t.uniqueLists.fieldsWhy}
            required
            value={list.fields}
            onInput={(event) => change(place, { fields: event.currentTarget.value })}
            wrong={wrong(`unique.${place}`)}
          />
          <Switch
            label={t.uniqueLists.ignoreCase}
            on={list.ignoreCase}
            onChange={(ignoreCase) => change(place, { ignoreCase })}
          />
          <Switch
            label={t.uniqueLists.keepTrashed}
            on={list.keepTrashed}
            onChange={(keepTrashed) => change(place, { keepTrashed })}
          />
          <div class="row">
            <Button
              kind="plain"
              onClick={() => {
                lists.value = lists.value.toSpliced(place, 1);
              }}
            >
              {t.uniqueLists.remove(place + 1)}
            </Button>
          </div>
        </fieldset>
      ))}
      <div class="row">
        <Button
          onClick={() => {
            lists.value = [...lists.value, emptyList];
          }}
        >
          {t.uniqueLists.add}
        </Button>
      </div>
    </section>
  );
};
