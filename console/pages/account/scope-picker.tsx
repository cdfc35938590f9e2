import type { Signal } from '@preact/signals';
import { farReachingScopes, type Scope, scopes } from '../../../shared/accounts/developers/scopes.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { TickGroup } from '../../ui/tick-group.tsx';

const resources = [...new Set(scopes.map((scope) => scope.slice(0, scope.lastIndexOf(':'))))];

const acts = ['read', 'write'] as const;

const areas = ['projects', 'collections', 'mail', 'webhooks'] as const;

/** What most tokens need. `deploy` is what a pipeline needs to apply a file of the schema. */
const presets = {
  read: scopes.filter((scope) => scope.endsWith(':read')),
  deploy: areas.flatMap((area) => acts.map((act): Scope => `${area}:${act}`)),
  all: scopes,
} as const;

/** The scopes of a token: read, write or both for each area. */
export const ScopePicker = ({
  chosen,
  wrong,
}: {
  readonly chosen: Signal<ReadonlySet<Scope>>;
  readonly wrong: string | undefined;
}) => {
  const choose = (scope: Scope, on: boolean) => {
    const next = new Set(chosen.value);
    if (on) next.add(scope);
    else next.delete(scope);
    chosen.value = next;
  };
  return (
    <TickGroup label={t.tokens.scopes} wrong={wrong}>
      <div class="row wide">
        {(Object.keys(presets) as (keyof typeof presets)[]).map((preset) => (
          <Button
            key={preset}
            onClick={() => {
              chosen.value = new Set(presets[preset]);
            }}
          >
            {t.tokens.presets[preset]}
          </Button>
        ))}
      </div>
      {resources.map((resource) => (
        <div key={resource} class="row">
          <span class="mono scope-name">{resource}</span>
          {acts.map((act) => {
            const scope = scopes.find((one) => one === `${resource}:${act}`);
            return (
              scope && (
                <label key={act}>
                  <input
                    type="checkbox"
                    checked={chosen.value.has(scope)}
                    aria-label={scope}
                    onChange={(event) => choose(scope, event.currentTarget.checked)}
                  />{' '}
                  {t.tokens.acts[act]}
                </label>
              )
            );
          })}
        </div>
      ))}
      <div role="status">
        {farReachingScopes
          .filter((scope) => chosen.value.has(scope))
          .map((scope) => (
            <p key={scope} class="note">
              <span class="mono">{scope}</span> {t.tokens.farReaching[scope]}
            </p>
          ))}
      </div>
    </TickGroup>
  );
};
