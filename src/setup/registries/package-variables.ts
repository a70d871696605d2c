/** The environment variables of a published package: the ones that the registry sets, and the ones that the user is asked for. */
import { oneLine } from "../../base/visible-text.ts";
import type { PublishedKeyValue } from "./published.ts";
import { offersOf, RegistryRefusal, templateOf, type Wanted, wantedIn, wantedOf } from "./templates.ts";
import { checkSets, kindOfVariable, type VariableKind } from "./variable-names.ts";
import type { ProgramVariant } from "./variant.ts";

const variableName = /^[A-Za-z_][\w.-]*$/;

/** A value that a registry proposes counts only for a setting; other variables get theirs from the user. Throws RegistryRefusal. */
export function variableOf(field: PublishedKeyValue): ProgramVariant["env"][number] {
  const { name } = field;
  if (!variableName.test(name)) throw new RegistryRefusal(`${JSON.stringify(name)} is not the name of a variable`);
  const kind = kindOfVariable(name);
  const given = templateOf(field, name, { isVariable: true });
  const isProposed = given.some((part) => typeof part === "string" || offersOf(part).length > 0);
  if (kind === "runtime" && isProposed) checkSets(name);
  const value = kind === "setting" || (kind === "unknown" && !isProposed) ? given : [typedVariable(field, kind)];
  return { name, value, isOptional: !field.isRequired && wantedIn(value).length > 0 };
}

/** The user gives the whole value. The registry's proposal is an example at most. */
function typedVariable(field: PublishedKeyValue, kind: VariableKind): Wanted {
  const proposal = oneLine(field.value ?? field.default ?? "", 100) || undefined;
  const placeholder = kind === "runtime" ? undefined : (field.placeholder ?? proposal);
  return wantedOf(field, field.name, { isVariable: true, isTyped: true, default: undefined, placeholder });
}
