import { useLocation } from 'preact-iso/router';
import { accounts } from '../../text/accounts.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Badge } from '../../ui/badge.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Mark } from '../../ui/mark.tsx';
import { leaving } from '../../ui/unsaved.tsx';
import { NewProvider } from './new-provider.tsx';
import { ProviderForm } from './provider-form.tsx';
import { isByDiscovery, markOf, type Shown, type State, stateOf, titleOf } from './provider-state.ts';
import type { SettingsProps } from './settings.tsx';

/** The address of the form for another provider; no provider has this name. */
const adding = 'new';

const kinds: Readonly<Record<State, 'good' | 'warning' | undefined>> = {
  on: 'good',
  incomplete: 'warning',
  off: undefined,
  unset: undefined,
};

const Tile = ({
  provider,
  shown,
  hasSite,
  href,
}: {
  readonly provider: string;
  readonly shown: Shown;
  readonly hasSite: boolean;
  readonly href: string;
}) => {
  const { state, missing } = stateOf(shown);
  const isWithoutSite = state === 'on' && !hasSite;
  return (
    <li class="stat">
      <Mark outline={markOf(provider)} />
      <div>
        <a class="card-link" href={href}>
          {titleOf(provider)}
        </a>
        {isByDiscovery(provider) && <p class="small muted">{accounts.providers.openId}</p>}
        {state === 'unset' ? (
          <p class="small muted">{accounts.providers.states.unset}</p>
        ) : (
          <p>
            <Badge kind={isWithoutSite ? 'warning' : kinds[state]}>
              {accounts.providers.states[isWithoutSite ? 'incomplete' : state]}
            </Badge>
          </p>
        )}
        {state === 'incomplete' && <p class="small muted">{accounts.providers.missing(missing)}</p>}
        {isWithoutSite && <p class="small muted">{accounts.providers.missing([t.settings.siteUrl])}</p>}
      </div>
    </li>
  );
};

/** The providers with their states. A click opens the settings of one, which the address keeps. */
export const ProviderTiles = ({ project }: SettingsProps) => {
  const { path, query, route } = useLocation();
  const { socialProviders, siteUrl } = project;
  const addressOf = (open: string | undefined) => addressWith(path, query, { open });
  const close = () => route(addressOf(undefined));
  const onClose = () => leaving(close);
  const shown = Object.entries(socialProviders).find(([provider]) => provider === query.open)?.[1];
  return (
    <section class="stack">
      <h2>{accounts.providers.title}</h2>
      <p class="muted">
        {accounts.providers.why}{' '}
        {siteUrl === null && (
          <>
            {accounts.providers.needsUrl}{' '}
            <a href={`/projects/${project._id}/settings/general`}>{accounts.providers.setUrl}</a>
          </>
        )}
      </p>
      <ul class="cards tiles" aria-label={accounts.providers.title}>
        {Object.entries(socialProviders).map(([provider, one]) => (
          <Tile key={provider} provider={provider} shown={one} hasSite={siteUrl !== null} href={addressOf(provider)} />
        ))}
        <li class="stat">
          <Icon name="plus" />
          <div>
            <a class="card-link" href={addressOf(adding)}>
              {accounts.providers.add}
            </a>
            <p class="small muted">{accounts.providers.anyOther}</p>
          </div>
        </li>
      </ul>
      {shown && query.open && (
        <ProviderForm key={query.open} project={project} provider={query.open} shown={shown} {...{ close, onClose }} />
      )}
      {query.open === adding && (
        <NewProvider project={project} onClose={onClose} onAdded={(provider) => route(addressOf(provider))} />
      )}
    </section>
  );
};
