# check_listed.sh <root> <example>...: no program in docs/examples is left out of the tests.
set -eu
folder=$1/docs/examples
shift
for file in "$folder"/*.cpp "$folder"/*.txt; do
  name=$(basename "$file")
  name=${name%.*}
  case " $* " in
    *" $name "*) ;;
    *)
      echo "$file is in no test: add $name to tests/docs/CMakeLists.txt"
      exit 1
      ;;
  esac
done
