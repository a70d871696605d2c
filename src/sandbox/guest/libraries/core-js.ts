/**
 * What core-js adds to the engine. Its modules are imported one by one, because its entry points would also replace Promise, Map
 * and Set.
 */
import "../engine-gaps.ts";
import "core-js-pure/modules/es.array.from-async";
import "core-js-pure/modules/web.atob";
import "core-js-pure/modules/web.btoa";
import "core-js-pure/modules/web.dom-exception.constructor";
import "core-js-pure/modules/web.dom-exception.stack";
import "core-js-pure/modules/web.dom-exception.to-string-tag";
import "core-js-pure/modules/web.structured-clone";
import "core-js-pure/modules/web.url";
import "core-js-pure/modules/web.url.can-parse";
import "core-js-pure/modules/web.url.parse";
import "core-js-pure/modules/web.url.to-json";
import "core-js-pure/modules/web.url-search-params";
import "core-js-pure/modules/web.url-search-params.delete";
import "core-js-pure/modules/web.url-search-params.has";
import "core-js-pure/modules/web.url-search-params.size";
import path from "core-js-pure/internals/path";
import { leave } from "./leave.ts";

leave("coreJs", path);
