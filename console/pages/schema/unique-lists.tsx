import { type Collection, ownerFieldOf } from '../../../shared/collections/collection.ts';
import { usersCollection } from '../../../shared/collections/names.ts';
import type { Data } from '../../api/rows.ts';
import { schema as words } from '../../text/schema.ts';
import { Button } from '../../ui/button.tsx';
import type { Part } from '../../ui/saved-draft.ts';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { type FieldDraft, mayBeUnique } from './schema-draft.ts';

export interface ListDraft {
  readonly fields: readonly string[];
  readonly ignoreCase: boolean;
  readonly keepTrashed: boolean;
}

const emptyList: ListDraft = { fields: [], ignoreCase: false, keepTrashed: false };

export const listDraftsOf = (unique: Data<'get-collection'>['unique'] = []): readonly ListDraft[] =>
  unique.map(({ fields, ignoreCase = false, keepTrashed = false }) => ({
    fields,
    ignoreCase,
    keepTrashed,
  }));

export const listOf = ({ fields, ...flags }: ListDraft) => ({ fields: [...fields], ...flags });

const maxFields = 4;

/** The fields that an entry can have: those of the top level whose values can be unique, and the owner field. */
export const uniqueFields = (fields: readonly FieldDraft[], { name, rls }: Collection): readonly string[] => {
  const keys = fields.filter(({ key, type }) => key !== '' && mayBeUnique(type)).map(({ key }) => key);
  const owner = ownerFieldOf(rls);
  const known = [...new Set(owner === undefined ? keys : [...keys, owner])];
  return known.filter((key) => name !== usersCollection || key !== 'password');
};

/** Combinations of fields that only one document may have. */
export const UniqueLists = ({
  lists,
  fields,
  wrong,
}: {
  readonly lists: Part<readonly ListDraft[]>;
  /** The fields to choose from. */
  readonly fields: readonly string[];
  readonly wrong: (field: string) => string | undefined;
}) => {
  const change = (place: number, changes: Partial<ListDraft>) => {
    lists.value = lists.value.map((list, at) => (at === place ? { ...list, ...changes } : list));
  };
  return (
    <section class="card stack">
      <h2>{words.together.title}</h2>
      <p class="measure">{words.together.text}</p>
      {lists.value.map((list, place) => (
        <fieldset key={place} class="stack measure plain-group">
          {list.fields.length > 0 && (
            <div class="row">
              {list.fields.map((field) => (
                <span key={field} class="chip">
                  <span class="chip-text mono">{field}</span>
                  <button
                    type="button"
                    aria-label={words.together.removeField(field, place + 1)}
                    onClick={() => change(place, { fields: list.fields.filter((other) => other !== field) })}
                  >
                    ✕
                  </button>
                </span>
              ))}
            </div>
          )}
          <Select
            label={words.together.fields(place + 1)}
            hint={words.together.fieldsWhy}
            value=""
            options={[
              ['', words.together.choose],
              ...(list.fields.length < maxFields ? fields : [])
                .filter((field) => !list.fields.includes(field))
                .map((field) => [field, field] as const),
            ]}
            onInput={({ currentTarget }) => {
              change(place, { fields: [...list.fields, currentTarget.value] });
              // The same field can be removed and chosen again.
              currentTarget.value = '';
            }}
            wrong={wrong(`unique.${place}`)}
          />
          <Switch
            label={words.together.ignoreCase}
            on={list.ignoreCase}
            onChange={(ignoreCase) => change(place, { ignoreCase })}
          />
          <Switch
            label={words.together.keepTrashed}
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
              {words.together.remove(place + 1)}
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
          {words.together.add}
        </Button>
      </div>
    </section>
  );
};
